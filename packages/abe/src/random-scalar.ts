/** Scalars from injected randomness. */
import type { RandomBytes } from '@basa/masking';
import { type Group, type Scalar, WIDE_BYTES } from './group.ts';

export function randomScalar(group: Group, randomBytes: RandomBytes): Scalar {
  return scalarFrom(group, randomBytes(WIDE_BYTES));
}

/** Takes ownership of the 64 bytes and wipes them. Zero occurs with probability 2^-255, or if the randomness is broken. */
export function scalarFrom(group: Group, wide: Uint8Array): Scalar {
  const scalar = group.scalars.reduce(wide);
  wide.fill(0);
  if (group.scalars.isZero(scalar)) throw new Error('the randomness gave a scalar of zero');
  return scalar;
}
