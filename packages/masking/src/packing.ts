/**
 * Vectors on the wire: element k takes bits k*b .. (k+1)*b - 1 of a little-endian bit string, padded with zero
 * bits to a whole byte. For b = 32 this is the plain little-endian u32 vector.
 */
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
  else if (bits === 16) packed.set(new Uint8Array(Uint16Array.from(vector).buffer));
  else packBits(vector, bits, packed);
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
  } else if (unpackBits(packed, bits, vector) !== 0) {
    return { kind: 'malformed', problem: 'the padding bits are not zero' };
  }
  return { kind: 'vector', vector };
}

function packBits(vector: Uint32Array, bits: number, packed: Uint8Array): void {
  let pending = 0;
  let pendingBits = 0;
  let at = 0;
  for (let k = 0; k < vector.length; k++) {
    // At most 7 + 31 bits: exact in a double.
    pending += (vector[k] as number) * 2 ** pendingBits;
    pendingBits += bits;
    while (pendingBits >= 8) {
      packed[at++] = pending % 256;
      pending = Math.floor(pending / 256);
      pendingBits -= 8;
    }
  }
  if (pendingBits > 0) packed[at] = pending;
}

/** Fills the vector and returns the padding bits. */
function unpackBits(packed: Uint8Array, bits: number, vector: Uint32Array): number {
  const size = 2 ** bits;
  let pending = 0;
  let pendingBits = 0;
  let at = 0;
  for (let k = 0; k < vector.length; k++) {
    while (pendingBits < bits) {
      pending += (packed[at++] as number) * 2 ** pendingBits;
      pendingBits += 8;
    }
    vector[k] = pending % size;
    pending = Math.floor(pending / size);
    pendingBits -= bits;
  }
  return pending;
}
