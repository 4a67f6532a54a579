/** The path of the repository, and the options with which Node runs its sources. */
import { fileURLToPath } from 'node:url';

/** The path ends with a slash. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Options of a Node that reads TypeScript, and finds the sources of our packages. */
export const FROM_SOURCE: readonly string[] = [
  '--import',
  new URL('../../../scripts/typescript.mjs', import.meta.url).href,
  '--conditions=@basa/source',
];
