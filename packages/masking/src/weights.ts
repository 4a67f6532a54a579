/** Staleness and example weights as integers, so that their sum can be masked like any other element. */
import { type Modulus, modulusSize } from './modulus.ts';

/** W = min(2^16, floor((q - 1) / 2K)): the largest scale whose K-fold sum still fits. */
export function weightScale(summands: number, modulus: Modulus): number {
  return Math.min(2 ** 16, Math.floor((modulusSize(modulus) - 1) / (2 * summands)));
}

/** w = min(W, max(1, floor(alpha W + 1/2))) for a real weight alpha in (0, 1]. */
export function integerWeight(alpha: number, scale: number): number {
  if (!(alpha > 0 && alpha <= 1)) throw new RangeError(`alpha must be in (0, 1], got ${alpha}`);
  return Math.min(scale, Math.max(1, Math.floor(alpha * scale + 0.5)));
}
