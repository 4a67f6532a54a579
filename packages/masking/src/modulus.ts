/** The additive groups a masked vector may live in: rings 2^b and the paper's prime field. */

/** 2^32 - 5, the largest prime below 2^32: the field of LightSecAgg and of the paper's experiments. */
export const FIELD_PRIME = 4_294_967_291;

/**
 * Elements of one vector are integers modulo `q`. Masks only ever add and subtract, so a ring is enough and
 * its wrap-around is free; the field exists for protocols that divide (Shamir, LightSecAgg).
 */
export type Modulus = { readonly kind: 'ring'; readonly bits: number } | { readonly kind: 'field' };

/** Z modulo 2^32, the default. */
export const RING_32: Modulus = { kind: 'ring', bits: 32 };

/** Z modulo the prime 2^32 - 5. */
export const FIELD: Modulus = { kind: 'field' };

/** Z modulo 2^bits, for packed uploads. */
export function ring(bits: number): Modulus {
  if (!Number.isInteger(bits) || bits < 2 || bits > 32) {
    throw new RangeError(`bits must be an integer from 2 to 32, got ${bits}`);
  }
  return { kind: 'ring', bits };
}

/** q itself; exact, since q <= 2^32. */
export function modulusSize(modulus: Modulus): number {
  return modulus.kind === 'field' ? FIELD_PRIME : 2 ** modulus.bits;
}

/** The largest |X| such that X and -X are different residues: floor((q - 1) / 2). */
export function signedCapacity(modulus: Modulus): number {
  return Math.floor((modulusSize(modulus) - 1) / 2);
}

/** Bits one element takes in a packed encoding. */
export function elementBits(modulus: Modulus): number {
  return modulus.kind === 'field' ? 32 : modulus.bits;
}

/** Bytes of one element in a stream of masks or in a kernel's addend. */
export type ElementWidth = 1 | 2 | 3 | 4;

/** Bytes of keystream that one element takes: no more than it needs. */
export function streamWidth(modulus: Modulus): ElementWidth {
  return Math.ceil(elementBits(modulus) / 8) as ElementWidth;
}

/** phi(X) = X for X >= 0, q + X otherwise, for |X| <= signedCapacity. */
export function toResidue(integer: number, modulus: Modulus): number {
  return integer >= 0 ? integer : modulusSize(modulus) + integer;
}

/** phi^-1: the representative of smallest absolute value. */
export function toSigned(residue: number, modulus: Modulus): number {
  return residue <= signedCapacity(modulus) ? residue : residue - modulusSize(modulus);
}

/** `2^32 ring`, `20-bit ring` or `field 2^32-5`, for sentences. */
export function modulusName(modulus: Modulus): string {
  return modulus.kind === 'field' ? 'field 2^32-5' : `ring 2^${modulus.bits}`;
}
