/** The wasm SIMD kernel behind @basa/baselines' `CombinationKernel` port. */
import { combinationWasmBase64 } from './wasm/combination-bytes.ts';

interface KernelExports {
  readonly memory: WebAssembly.Memory;
  combine(count: number, words: number, strideBytes: number): void;
}

/** Addresses of assembly/combination.ts. */
const OUTPUT = 524_288;
const INPUTS = 528_384;
const MEMORY_BYTES = 48 * 65_536;

/** 2^32 - 5. */
const ORDER = 4_294_967_291;

/** Words of every input that are processed at a time; fewer if many inputs share the memory. */
const BLOCK_WORDS = 256;

/** The gap between two blocks, so that the same words of all inputs do not fall into one set of the cache. */
const PADDING_WORDS = 16;

const MAX_INPUTS = 8192;

export interface WasmCombinationKernel {
  readonly name: string;
  readonly order: number;
  combine(rows: readonly Uint32Array[], inputs: readonly Uint32Array[], outputs: readonly Uint32Array[]): void;
}

/** Returns a kernel with its own memory, or undefined if the engine has no wasm SIMD. One per thread. */
export function createWasmCombinationKernel(): WasmCombinationKernel | undefined {
  const bytes = Uint8Array.from(atob(combinationWasmBase64), (letter) => letter.charCodeAt(0));
  if (typeof WebAssembly === 'undefined' || !WebAssembly.validate(bytes)) return undefined;
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  const kernel = instance.exports as unknown as KernelExports;
  const words = new Uint32Array(kernel.memory.buffer);
  return {
    name: 'wasm SIMD',
    order: ORDER,
    combine(rows, inputs, outputs) {
      if (inputs.length > MAX_INPUTS) throw new RangeError(`${inputs.length} inputs exceed ${MAX_INPUTS}`);
      const length = inputs[0]?.length ?? 0;
      const halves = rows.map(halvesOf);
      const room = Math.floor((MEMORY_BYTES - INPUTS) / 4 / Math.max(1, inputs.length)) - PADDING_WORDS;
      const block = Math.min(BLOCK_WORDS, room - (room % 8));
      const stride = block + PADDING_WORDS;
      for (let start = 0; start < length; start += block) {
        const count = Math.min(block, length - start);
        for (const [m, input] of inputs.entries()) {
          words.set(input.subarray(start, start + count), INPUTS / 4 + m * stride);
        }
        for (const [j, output] of outputs.entries()) {
          words.set(halves[j] as Uint32Array);
          kernel.combine(inputs.length, count, 4 * stride);
          output.set(words.subarray(OUTPUT / 4, OUTPUT / 4 + count), start);
        }
      }
      words.fill(0);
    },
  };
}

/** Splits each coefficient into its low and its high 16 bits. */
function halvesOf(row: Uint32Array): Uint32Array {
  const halves = new Uint32Array(2 * row.length);
  for (const [m, coefficient] of row.entries()) {
    halves[2 * m] = coefficient & 0xffff;
    halves[2 * m + 1] = coefficient >>> 16;
  }
  return halves;
}
