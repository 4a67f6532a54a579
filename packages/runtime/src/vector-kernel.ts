/** The wasm SIMD kernel behind @basa/masking's `VectorKernel` port. */
import type { ElementKernel, Modulus, VectorKernel } from '@basa/masking';
import { maskingWasmBase64 } from './wasm/masking-bytes.ts';

interface KernelExports {
  readonly memory: WebAssembly.Memory;
  addRing(at: number, words: number, width: number): undefined;
  subtractRing(at: number, words: number, width: number): undefined;
  addField(at: number, words: number): number;
  subtractField(at: number, words: number): number;
  canonicalizeField(words: number): void;
  maskBits(words: number, bits: number): void;
  quantize(at: number, words: number, level: number, weight: number, clip: number, inside: number): number;
  fieldResidues(words: number): void;
  pack(words: number, bits: number): number;
  addPacked(words: number, bits: number): void;
  dequantize(words: number, shift: number, isField: boolean, unit: number): void;
  hasBeyond(words: number, shift: number, isField: boolean, bound: number): number;
}

/** Words of the accumulator; AREA / 4 in assembly/masking.ts. Large enough to hide the call of the cipher, and still in the second cache. */
const BLOCK_WORDS = 32_768;
/** Words of the addend that are copied and added at a time: the first cache holds them with their part of the accumulator. */
const PIECE_WORDS = 4096;

/** Returns a kernel with its own memory, or undefined if the engine has no wasm SIMD. One per thread. */
export function createWasmVectorKernel(): VectorKernel | undefined {
  const bytes = Uint8Array.from(atob(maskingWasmBase64), (letter) => letter.charCodeAt(0));
  if (typeof WebAssembly === 'undefined' || !WebAssembly.validate(bytes)) return undefined;
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  const kernel = instance.exports as unknown as KernelExports;
  const accumulator = new Uint32Array(kernel.memory.buffer, 0, BLOCK_WORDS);
  const piece = new Uint8Array(kernel.memory.buffer, 4 * BLOCK_WORDS, 4 * PIECE_WORDS);
  const inPieces =
    (add: (at: number, words: number, width: number) => number | undefined) =>
    (addend: Uint8Array, words: number, width = 4): boolean => {
      let hasRejected = false;
      for (let first = 0; first < words; first += PIECE_WORDS) {
        const some = Math.min(PIECE_WORDS, words - first);
        piece.set(addend.subarray(width * first, width * (first + some)));
        // The kernel continues to the end of a vector of four: remains of an earlier addend must not be there.
        if (some % 4 !== 0) piece.fill(0, width * some, width * (some + 4));
        if (add(4 * first, some, width) === 1) hasRejected = true;
      }
      return hasRejected;
    };
  return {
    name: 'wasm SIMD',
    blockWords: BLOCK_WORDS,
    accumulator,
    addRing: inPieces(kernel.addRing),
    subtractRing: inPieces(kernel.subtractRing),
    addField: inPieces(kernel.addField),
    subtractField: inPieces(kernel.subtractField),
    canonicalizeField: kernel.canonicalizeField,
    maskBits: kernel.maskBits,
    wipe() {
      accumulator.fill(0);
      new Uint8Array(kernel.memory.buffer, 4 * BLOCK_WORDS, 4 * BLOCK_WORDS).fill(0);
    },
    elements: elementKernel(kernel, accumulator),
  };
}

function elementKernel(kernel: KernelExports, accumulator: Uint32Array): ElementKernel {
  const { buffer } = kernel.memory;
  const area = 4 * BLOCK_WORDS;
  const bytes = new Uint8Array(buffer, area, area);
  const values = new Float32Array(buffer, area, PIECE_WORDS);
  const random = new Uint32Array(buffer, area + 4 * PIECE_WORDS, PIECE_WORDS);
  /** Loops continue to the end of a vector of four. */
  const clearBehind = (words: number): void => {
    if (words % 4 !== 0) accumulator.fill(0, words, words + 4 - (words % 4));
  };
  return {
    quantize(from, words, { level, weight, clip }) {
      let beyond = 0;
      const inside = largestFloat(clip);
      for (let first = 0; first < from.length; first += PIECE_WORDS) {
        const some = Math.min(PIECE_WORDS, from.length - first);
        values.set(from.subarray(first, first + some));
        if (some % 4 !== 0) values.fill(0, some, some + 4 - (some % 4));
        random.set(words.subarray(first, first + some));
        beyond += kernel.quantize(4 * first, some, level, weight, clip, inside);
      }
      return beyond;
    },
    fieldResidues: kernel.fieldResidues,
    pack: (words, bits) =>
      kernel.pack(words, bits) === 1 ? undefined : bytes.subarray(0, Math.ceil((words * bits) / 8)),
    addPacked(packed, words, bits) {
      bytes.set(packed.subarray(0, Math.ceil((words * bits) / 8)));
      kernel.addPacked(words, bits);
    },
    dequantize(words, modulus, unit) {
      kernel.dequantize(words, shiftOf(modulus), modulus.kind === 'field', unit);
      return new Float32Array(buffer, area, words);
    },
    hasBeyond(words, modulus, bound) {
      clearBehind(words);
      const most = Math.min(bound, 0xffff_ffff) | 0;
      return kernel.hasBeyond(words, shiftOf(modulus), modulus.kind === 'field', most) === 1;
    },
  };
}

/** Returns the largest float that is at most this positive number. */
function largestFloat(atMost: number): number {
  const float = new DataView(new ArrayBuffer(4));
  float.setFloat32(0, atMost);
  if (float.getFloat32(0) > atMost) float.setUint32(0, float.getUint32(0) - 1);
  return float.getFloat32(0);
}

function shiftOf(modulus: Modulus): number {
  return modulus.kind === 'field' ? 0 : 32 - modulus.bits;
}
