/**
 * Vectors on the wire: element k takes bits k*b .. (k+1)*b - 1 of a little-endian bit string, padded with zero
 * bits to a whole byte. For b = 32 this is the plain little-endian u32 vector.
 */
import { packElements, unpackElements } from './element-bits.ts';
import { elementBits, type Modulus } from './modulus.ts';
import { addInPlace, firstNonCanonical, loadBlock, storeBlock } from './vector.ts';
import type { ElementKernel, VectorKernel } from './vector-kernel.ts';

/** Bytes of a packed vector. */
export function packedLength(elements: number, modulus: Modulus): number {
  return Math.ceil((elements * elementBits(modulus)) / 8);
}

export function packVector(vector: Uint32Array, modulus: Modulus, kernel?: VectorKernel): Uint8Array {
  const bits = elementBits(modulus);
  const packed = new Uint8Array(packedLength(vector.length, modulus));
  if (bits < 32 && kernel?.elements !== undefined) {
    if (!packBlocks(vector, bits, packed, kernel, kernel.elements)) refuseNonCanonical(vector, modulus);
    return packed;
  }
  refuseNonCanonical(vector, modulus);
  if (bits === 32) packed.set(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
  else packElements(vector, bits, packed);
  return packed;
}

function refuseNonCanonical(vector: Uint32Array, modulus: Modulus): void {
  const offender = firstNonCanonical(vector, modulus);
  if (offender >= 0) throw new RangeError(`element ${offender} is not below the modulus`);
}

/** Returns false if an element has more bits. A block of the kernel is a multiple of eight elements, so of whole bytes. */
function packBlocks(
  vector: Uint32Array,
  bits: number,
  packed: Uint8Array,
  kernel: VectorKernel,
  elements: ElementKernel,
): boolean {
  for (let start = 0; start < vector.length; start += kernel.blockWords) {
    const words = Math.min(kernel.blockWords, vector.length - start);
    loadBlock(kernel, vector, start, words);
    const block = elements.pack(words, bits);
    if (block === undefined) return false;
    packed.set(block, (start * bits) / 8);
  }
  return true;
}

export type Unpacked =
  | { readonly kind: 'vector'; readonly vector: Uint32Array }
  | { readonly kind: 'malformed'; readonly problem: string };

/** Accepts exactly what `packVector` writes: the right length, canonical elements, zero padding. */
export function unpackVector(packed: Uint8Array, elements: number, modulus: Modulus, kernel?: VectorKernel): Unpacked {
  const problem = packedProblem(packed, elements, modulus);
  if (problem !== undefined) return { kind: 'malformed', problem };
  const bits = elementBits(modulus);
  const vector = new Uint32Array(elements);
  if (bits < 32 && kernel?.elements !== undefined) addBlocks(vector, packed, modulus, kernel, kernel.elements);
  else if (bits < 32) unpackElements(packed, bits, vector);
  else {
    new Uint8Array(vector.buffer).set(packed);
    const offender = firstNonCanonical(vector, modulus);
    if (offender >= 0) return { kind: 'malformed', problem: `element ${offender} is not below the modulus` };
  }
  return { kind: 'vector', vector };
}

/**
 * target += the packed vector, without an intermediate vector if the kernel supports it. If the vector is malformed,
 * returns the problem and adds nothing.
 */
export function addPackedInPlace(
  target: Uint32Array,
  packed: Uint8Array,
  modulus: Modulus,
  kernel: VectorKernel,
): string | undefined {
  const bits = elementBits(modulus);
  const { elements } = kernel;
  if (bits === 32 || elements === undefined) {
    const unpacked = unpackVector(packed, target.length, modulus);
    if (unpacked.kind === 'malformed') return unpacked.problem;
    addInPlace(target, unpacked.vector, modulus, kernel);
    return undefined;
  }
  const problem = packedProblem(packed, target.length, modulus);
  if (problem !== undefined) return problem;
  addBlocks(target, packed, modulus, kernel, elements);
  return undefined;
}

function addBlocks(
  target: Uint32Array,
  packed: Uint8Array,
  modulus: Modulus,
  kernel: VectorKernel,
  elements: ElementKernel,
): void {
  const bits = elementBits(modulus);
  for (let start = 0; start < target.length; start += kernel.blockWords) {
    const words = Math.min(kernel.blockWords, target.length - start);
    loadBlock(kernel, target, start, words);
    elements.addPacked(packed.subarray((start * bits) / 8), words, bits);
    storeBlock(kernel, target, start, words, modulus);
  }
}

/** Checks length and padding. */
function packedProblem(packed: Uint8Array, elements: number, modulus: Modulus): string | undefined {
  const expected = packedLength(elements, modulus);
  if (packed.length !== expected) return `${packed.length} bytes instead of ${expected} for ${elements} elements`;
  const padding = 8 * expected - elements * elementBits(modulus);
  if (padding > 0 && (packed[expected - 1] as number) >>> (8 - padding) !== 0) return 'the padding bits are not zero';
  return undefined;
}
