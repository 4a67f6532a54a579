/** The bits of packed vectors, with loops of their own for the widths that tasks have: 16, 20 and 24. */

/** The widest elements that fit 32 bits together with the 7 that may wait before them: integers are many times faster than doubles. */
const MAX_SHIFTED = 24;

/** Element k to bits k*b .. (k+1)*b - 1, for elements of fewer than 32 bits. */
export function packElements(vector: Uint32Array, bits: number, packed: Uint8Array): void {
  if (bits === 16) packed.set(new Uint8Array(new Uint16Array(vector).buffer));
  else if (bits === 20) packPairs(vector, packed);
  else if (bits === 24) packTriples(vector, packed);
  else if (bits <= MAX_SHIFTED) packShifted(vector, bits, packed);
  else packBits(vector, bits, packed);
}

/** Fills the vector and returns the padding bits. */
export function unpackElements(packed: Uint8Array, bits: number, vector: Uint32Array): number {
  if (bits === 16) return unpackWords(packed, vector);
  if (bits === 20) return unpackPairs(packed, vector);
  if (bits === 24) return unpackTriples(packed, vector);
  return bits <= MAX_SHIFTED ? unpackShifted(packed, bits, vector) : unpackBits(packed, bits, vector);
}

/** 16 bits: the words of the platform, which is little-endian as all that run this are. */
function unpackWords(packed: Uint8Array, vector: Uint32Array): number {
  vector.set(new Uint16Array(packed.slice().buffer));
  return 0;
}

/** 20 bits: five bytes hold two elements. */
function packPairs(vector: Uint32Array, packed: Uint8Array): void {
  const pairs = vector.length >> 1;
  for (let k = 0, at = 0; k < pairs; k++, at += 5) {
    const low = vector[2 * k] as number;
    const high = vector[2 * k + 1] as number;
    packed[at] = low;
    packed[at + 1] = low >>> 8;
    packed[at + 2] = (low >>> 16) | (high << 4);
    packed[at + 3] = high >>> 4;
    packed[at + 4] = high >>> 12;
  }
  if (vector.length % 2 === 1) packShifted(vector.subarray(-1), 20, packed.subarray(5 * pairs));
}

function unpackPairs(packed: Uint8Array, vector: Uint32Array): number {
  const pairs = vector.length >> 1;
  for (let k = 0, at = 0; k < pairs; k++, at += 5) {
    const middle = packed[at + 2] as number;
    vector[2 * k] = (packed[at] as number) | ((packed[at + 1] as number) << 8) | ((middle & 15) << 16);
    vector[2 * k + 1] = (middle >>> 4) | ((packed[at + 3] as number) << 4) | ((packed[at + 4] as number) << 12);
  }
  return vector.length % 2 === 0 ? 0 : unpackShifted(packed.subarray(5 * pairs), 20, vector.subarray(-1));
}

/** 24 bits: three bytes an element. */
function packTriples(vector: Uint32Array, packed: Uint8Array): void {
  for (let k = 0, at = 0; k < vector.length; k++, at += 3) {
    const element = vector[k] as number;
    packed[at] = element;
    packed[at + 1] = element >>> 8;
    packed[at + 2] = element >>> 16;
  }
}

function unpackTriples(packed: Uint8Array, vector: Uint32Array): number {
  for (let k = 0, at = 0; k < vector.length; k++, at += 3) {
    vector[k] = (packed[at] as number) | ((packed[at + 1] as number) << 8) | ((packed[at + 2] as number) << 16);
  }
  return 0;
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

function unpackShifted(packed: Uint8Array, bits: number, vector: Uint32Array): number {
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
  return pending;
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
