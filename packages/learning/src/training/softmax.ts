/** Softmax of one row, without overflow. */
import { exp } from '../numbers/exact-math.ts';

export function softmaxOf(x: Float64Array): Float64Array {
  const most = x.reduce((a, b) => Math.max(a, b));
  const powers = x.map((value) => exp(value - most));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((value) => value / sum);
}
