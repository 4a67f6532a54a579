/** The bits of packed vectors, element by element, for callers without a kernel. */

/** The widest elements that fit 32 bits together with the 7 that may wait before them: integers are many times faster than doubles. */
const MAX_SHIFTED_BITS = 24;

/** Element k to bits k*b .. (k+1)*b - 1, for elements of fewer than 32 bits. */
export function packElements(vector: Uint32Array, bits: number, packed: Uint8Array): void {
  if (bits <= MAX_SHIFTED_BITS) packShifted(vector, bits, packed);
  else packBits(vector, bits, packed);
}

/** Fills the vector. */
export function unpackElements(packed: Uint8Array, bits: number, vector: Uint32Array): void {
  if (bits <= MAX_SHIFTED_BITS) unpackShifted(packed, bits, vector);
  else unpackBits(packed, bits, vector);
}

function packShifted(vector: Uint32Array, bits: number, packed: Uint8Array): void {
  let pending = 0;
  let pendingBits = 0;
  let at = 0;
  for (let k = 0; k < vector.length; k++) {
    pending |= (vector[k] as number) << pendingBits;
    pendingBits += bits;
    while (pendingBits >= 8) {
      packed[at++] = pending;
      pending >>>= 8;
      pendingBits -= 8;
    }
  }
  if (pendingBits > 0) packed[at] = pending;
}

function unpackShifted(packed: Uint8Array, bits: number, vector: Uint32Array): void {
  const mask = 2 ** bits - 1;
  let pending = 0;
  let pendingBits = 0;
  let at = 0;
  for (let k = 0; k < vector.length; k++) {
    while (pendingBits < bits) {
      pending |= (packed[at++] as number) << pendingBits;
      pendingBits += 8;
    }
    vector[k] = pending & mask;
    pending >>>= bits;
    pendingBits -= bits;
  }
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

function unpackBits(packed: Uint8Array, bits: number, vector: Uint32Array): void {
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
}
