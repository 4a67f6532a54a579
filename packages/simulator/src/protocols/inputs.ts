/** Converts quantised inputs to updates that BASA's own quantiser turns into the very same integers. */
import { FIELD, toSigned } from '@basa/masking';

/** Steps to the unit: an integer of up to 2^20 is a multiple of 2^-20, exact in a Float32 and never rounded. */
export const LEVEL = 2 ** 20;

export function asDelta(input: Uint32Array): Float32Array {
  return Float32Array.from(input, (residue) => {
    const integer = toSigned(residue, FIELD);
    if (Math.abs(integer) > LEVEL) throw new RangeError(`an input of ${integer} exceeds ${LEVEL}`);
    return integer / LEVEL;
  });
}
