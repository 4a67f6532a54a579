/** The wasm SIMD kernel behind @basa/masking's `VectorKernel` port. */
import type { VectorKernel } from '@basa/masking';
import { maskingWasmBase64 } from './wasm/masking-bytes.ts';

interface KernelExports {
  readonly memory: WebAssembly.Memory;
  addRing(words: number, width: number): void;
  subtractRing(words: number, width: number): void;
  addField(words: number): number;
  subtractField(words: number): number;
  canonicalizeField(words: number): void;
  maskBits(words: number, bits: number): void;
}

/** Words of one scratch area; AREA / 4 in assembly/masking.ts. */
const BLOCK_WORDS = 16_384;

/** A kernel of its own memory, or undefined where the engine has no wasm SIMD. One per thread. */
export function createWasmVectorKernel(): VectorKernel | undefined {
  const bytes = Uint8Array.from(atob(maskingWasmBase64), (letter) => letter.charCodeAt(0));
  if (typeof WebAssembly === 'undefined' || !WebAssembly.validate(bytes)) return undefined;
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  const kernel = instance.exports as unknown as KernelExports;
  return {
    name: 'wasm SIMD',
    blockWords: BLOCK_WORDS,
    accumulator: new Uint32Array(kernel.memory.buffer, 0, BLOCK_WORDS),
    addend: new Uint32Array(kernel.memory.buffer, 4 * BLOCK_WORDS, BLOCK_WORDS),
    addRing: kernel.addRing,
    subtractRing: kernel.subtractRing,
    addField: (words) => kernel.addField(words) !== 0,
    subtractField: (words) => kernel.subtractField(words) !== 0,
    canonicalizeField: kernel.canonicalizeField,
    maskBits: kernel.maskBits,
  };
}
