/** Whole vectors through a kernel's blocks: canonical form, sums and differences in place. */
import { type ElementWidth, FIELD_PRIME, type Modulus, modulusSize } from './modulus.ts';
import type { VectorKernel } from './vector-kernel.ts';

/** target += addend. Both canonical, of one length. */
export function addInPlace(target: Uint32Array, addend: Uint32Array, modulus: Modulus, kernel: VectorKernel): void {
  combineInPlace(target, addend, 1, modulus, kernel);
}

/** target -= addend. Both canonical, of one length. */
export function subtractInPlace(
  target: Uint32Array,
  addend: Uint32Array,
  modulus: Modulus,
  kernel: VectorKernel,
): void {
  combineInPlace(target, addend, -1, modulus, kernel);
}

/** Index of the first element that is not a residue below q, or -1. Decoders apply it to vectors from outside. */
export function firstNonCanonical(vector: Uint32Array, modulus: Modulus): number {
  const size = modulusSize(modulus);
  if (size > 0xffff_ffff) return -1;
  for (let k = 0; k < vector.length; k++) if ((vector[k] as number) >= size) return k;
  return -1;
}

function combineInPlace(
  target: Uint32Array,
  addend: Uint32Array,
  sign: 1 | -1,
  modulus: Modulus,
  kernel: VectorKernel,
): void {
  if (target.length !== addend.length) {
    throw new RangeError(`vectors of different lengths: ${target.length} and ${addend.length}`);
  }
  for (let start = 0; start < target.length; start += kernel.blockWords) {
    const words = Math.min(kernel.blockWords, target.length - start);
    loadBlock(kernel, target, start, words);
    const bytes = new Uint8Array(addend.buffer, addend.byteOffset + 4 * start, 4 * words);
    if (accumulateBlock(kernel, bytes, words, sign, modulus)) {
      throw new RangeError(`addend holds an element >= ${FIELD_PRIME} at or after index ${start}`);
    }
    storeBlock(kernel, target, start, words, modulus);
  }
}

/** Copies one block of the vector into the accumulator. */
export function loadBlock(kernel: VectorKernel, vector: Uint32Array, start: number, words: number): void {
  kernel.accumulator.set(vector.subarray(start, start + words));
}

/** Adds or subtracts the addend, `width` bytes per element; returns true if the field left a word out. */
export function accumulateBlock(
  kernel: VectorKernel,
  addend: Uint8Array,
  words: number,
  sign: 1 | -1,
  modulus: Modulus,
  width: ElementWidth = 4,
): boolean {
  if (modulus.kind === 'field') return sign > 0 ? kernel.addField(addend, words) : kernel.subtractField(addend, words);
  if (sign > 0) kernel.addRing(addend, words, width);
  else kernel.subtractRing(addend, words, width);
  return false;
}

/** Makes the accumulator canonical and copies it back. */
export function storeBlock(
  kernel: VectorKernel,
  vector: Uint32Array,
  start: number,
  words: number,
  modulus: Modulus,
): void {
  if (modulus.kind === 'field') kernel.canonicalizeField(words);
  else if (modulus.bits < 32) kernel.maskBits(words, modulus.bits);
  vector.set(kernel.accumulator.subarray(0, words), start);
}
