/** Updates for attacks: exact in the quantiser, and with enough distinct coordinates that no two vectors agree by chance. */
import type { RandomWords } from '@basa/masking';

export const DIMENSION = 24;
/** A power of two: n / LEVEL is a float without rounding, so that x is the same whenever it is quantised. */
export const LEVEL = 1024;

export function sampleUpdate(words: RandomWords, dimension = DIMENSION): Float32Array {
  const drawn = new Uint32Array(dimension);
  words(drawn);
  return Float32Array.from(drawn, (word) => ((word % (2 * LEVEL - 1)) - (LEVEL - 1)) / LEVEL);
}
