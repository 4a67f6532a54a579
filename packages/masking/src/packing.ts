/**
 * Vectors on the wire: element k takes bits k*b .. (k+1)*b - 1 of a little-endian bit string, padded with zero
 * bits to a whole byte. For b = 32 this is the plain little-endian u32 vector.
 */
import { packElements, unpackElements } from './element-bits.ts';
import type { Modulus } from './modulus.ts';
import { elementBits } from './modulus.ts';
import { firstNonCanonical } from './vector.ts';

/** Bytes of a packed vector. */
export function packedLength(elements: number, modulus: Modulus): number {
  return Math.ceil((elements * elementBits(modulus)) / 8);
}

export function packVector(vector: Uint32Array, modulus: Modulus): Uint8Array {
  const offender = firstNonCanonical(vector, modulus);
  if (offender >= 0) throw new RangeError(`element ${offender} is not below the modulus`);
  const bits = elementBits(modulus);
  const packed = new Uint8Array(packedLength(vector.length, modulus));
  if (bits === 32) packed.set(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
  else packElements(vector, bits, packed);
  return packed;
}

export type Unpacked =
  | { readonly kind: 'vector'; readonly vector: Uint32Array }
  | { readonly kind: 'malformed'; readonly problem: string };

/** Accepts exactly what `packVector` writes: the right length, canonical elements, zero padding. */
export function unpackVector(packed: Uint8Array, elements: number, modulus: Modulus): Unpacked {
  const expected = packedLength(elements, modulus);
  if (packed.length !== expected) {
    return { kind: 'malformed', problem: `${packed.length} bytes instead of ${expected} for ${elements} elements` };
  }
  const bits = elementBits(modulus);
  const vector = new Uint32Array(elements);
  if (bits === 32) {
    new Uint8Array(vector.buffer).set(packed);
    const offender = firstNonCanonical(vector, modulus);
    if (offender >= 0) return { kind: 'malformed', problem: `element ${offender} is not below the modulus` };
  } else if (unpackElements(packed, bits, vector) !== 0) {
    return { kind: 'malformed', problem: 'the padding bits are not zero' };
  }
  return { kind: 'vector', vector };
}
