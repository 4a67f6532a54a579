/** The draws of dropout, the same for every backend. */
import type { RandomStream } from '../numbers/random-stream.ts';

/** Zero with probability `rate` (to 2^-32), else 1 / (1 - rate). */
export function fillDropout(factors: Float32Array | Float64Array, rate: number, random: RandomStream): void {
  const kept = Math.fround(1 / (1 - rate));
  const limit = rate * 2 ** 32;
  for (let n = 0; n < factors.length; n++) factors[n] = random.u32() < limit ? 0 : kept;
}
