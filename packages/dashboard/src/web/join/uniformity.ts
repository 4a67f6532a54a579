/** How even the bytes of an upload are. */
import { chiSquareUniform } from '@basa/simulator';

const FEWEST_BYTES = 5 * 256;

export function byteEvenness(words: Uint32Array): { readonly byteCounts: Uint32Array; readonly pValue: number } {
  const byteCounts = new Uint32Array(256);
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  for (const byte of bytes) byteCounts[byte] = (byteCounts[byte] as number) + 1;
  const pValue = bytes.length < FEWEST_BYTES ? Number.NaN : chiSquareUniform(byteCounts).pValue;
  return { byteCounts, pValue };
}
