/** The wasm SIMD kernel behind @basa/learning's `TrainingKernel` port: the same bytes in Node and in browsers. */
import { trainingWasmBase64 } from './wasm/training-bytes.ts';
import { trainingRelaxedWasmBase64 } from './wasm/training-relaxed-bytes.ts';

const PAGE_BYTES = 65_536;

/** A function of assembly/training.ts. The port documents its arguments. */
type WasmFunction = (...numbers: number[]) => number;

type TrainingFunctions = Readonly<
  Record<
    | 'fillRows'
    | 'packRows'
    | 'packColumns'
    | 'packTurned'
    | 'multiply'
    | 'multiplyTransposed'
    | 'spreadImage'
    | 'convolve'
    | 'convolveGradient'
    | 'maxPool'
    | 'maxPoolGradient'
    | 'groupNorm'
    | 'groupNormGradient'
    | 'flush'
    | 'relu'
    | 'reluGradient'
    | 'multiplyElements'
    | 'sigmoid'
    | 'sigmoidGradient'
    | 'softmax'
    | 'softmaxGradient'
    | 'softmaxCrossEntropy'
    | 'descend'
    | 'squaredNorm'
    | 'sumRows',
    WasmFunction
  >
>;

export interface WasmTrainingKernel extends TrainingFunctions {
  readonly name: string;
  /** The first free address. */
  readonly start: number;
  /** All memory, with room for `bytes` from `start` on. Call it only once, because growing detaches earlier views. */
  reserve(bytes: number): ArrayBuffer;
}

export interface TrainingKernelOptions {
  /**
   * True if the same numbers must come out on every machine, as experiments and evaluations need; this is the default.
   * With `false`, products and sums are fused if the engine has relaxed SIMD without a flag (Node 22, Chromium):
   * faster, and the last bits depend on the processor.
   */
  readonly equalBits?: boolean;
}

/** Returns a kernel with its own memory, or undefined if the JavaScript engine lacks a required feature. Use one per trainer and thread. */
export function createTrainingKernel({ equalBits = true }: TrainingKernelOptions = {}): WasmTrainingKernel | undefined {
  const fused = equalBits ? undefined : instantiate('wasm relaxed SIMD', trainingRelaxedWasmBase64);
  return fused ?? instantiate('wasm SIMD', trainingWasmBase64);
}

function instantiate(name: string, base64: string): WasmTrainingKernel | undefined {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  if (typeof WebAssembly === 'undefined' || !WebAssembly.validate(bytes)) return undefined;
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  const functions = instance.exports as unknown as TrainingFunctions & { readonly memory: WebAssembly.Memory };
  return {
    ...functions,
    name,
    start: PAGE_BYTES,
    reserve(length) {
      functions.memory.grow(Math.ceil(length / PAGE_BYTES));
      return functions.memory.buffer;
    },
  };
}
