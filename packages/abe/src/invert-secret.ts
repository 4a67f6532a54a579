/** 1/a for secrets of the authority. */
import type { Group, Scalar } from './group.ts';

/** The order r of G1, G2 and GT. */
const GROUP_ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;
const EXPONENT_BITS = (GROUP_ORDER - 2n).toString(2);

/**
 * a^(r - 2), which is 1/a by Fermat. The same multiplications for every a, unlike the Euclidean inversions of the
 * libraries; half a millisecond.
 */
export function invertSecret(a: Scalar, { scalars }: Group): Scalar {
  let power = a;
  for (const bit of EXPONENT_BITS.slice(1)) {
    const before = power;
    power = scalars.multiply(power, power);
    if (before !== a) scalars.wipe(before);
    if (bit === '0') continue;
    const square = power;
    power = scalars.multiply(square, a);
    scalars.wipe(square);
  }
  return power;
}
