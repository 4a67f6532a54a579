/** Measures how even the bytes of an upload are. */
import { type Modulus, packVector } from '@basa/masking';
import { chiSquareUniform } from '@basa/simulator';

const MIN_BYTES = 5 * 256;

/** Words are packed before they leave: of a word of 20 bits the other 12 are not sent. */
export function byteEvenness(
  words: Uint32Array,
  modulus: Modulus,
): { readonly byteCounts: Uint32Array; readonly pValue: number } {
  const byteCounts = new Uint32Array(256);
  const bytes = packVector(words, modulus);
  for (const byte of bytes) byteCounts[byte] = (byteCounts[byte] as number) + 1;
  const pValue = bytes.length < MIN_BYTES ? Number.NaN : chiSquareUniform(byteCounts).pValue;
  return { byteCounts, pValue };
}
