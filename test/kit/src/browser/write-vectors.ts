/** Writes every vector file in a page. */
import './node-crypto-in-browser.ts';
import { formatVectors, VECTOR_FILES } from '../vectors/all.ts';

Object.assign(globalThis, {
  writeVectors: async (name: string) => formatVectors((await VECTOR_FILES[name]?.()) ?? {}),
});
