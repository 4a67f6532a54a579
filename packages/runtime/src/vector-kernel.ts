/** The wasm SIMD kernel behind @basa/masking's `VectorKernel` port. */
import type { VectorKernel } from '@basa/masking';
import { maskingWasmBase64 } from './wasm/masking-bytes.ts';

interface KernelExports {
  readonly memory: WebAssembly.Memory;
  addRing(at: number, words: number, width: number): undefined;
  subtractRing(at: number, words: number, width: number): undefined;
  addField(at: number, words: number): number;
  subtractField(at: number, words: number): number;
  canonicalizeField(words: number): void;
  maskBits(words: number, bits: number): void;
}

/** Words of the accumulator; AREA / 4 in assembly/masking.ts. */
const BLOCK_WORDS = 16_384;
/** Words of the addend that are copied and added at a time: the first cache holds them with their part of the accumulator. */
const PIECE_WORDS = 4096;

/** A kernel of its own memory, or undefined where the engine has no wasm SIMD. One per thread. */
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
        // The kernel goes on to the end of a vector: nothing of an earlier addend may lie there.
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
      piece.fill(0);
    },
  };
}
