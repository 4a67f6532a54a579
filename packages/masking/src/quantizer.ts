/**
 * The stochastic quantiser of LightSecAgg (So et al. 2022), which the paper adopts: unbiased, one stream of
 * random words for the whole vector.
 */
import { type Modulus, modulusSize, signedCapacity } from './modulus.ts';
import { loadBlock } from './vector.ts';
import type { VectorKernel } from './vector-kernel.ts';

/** The mapping of reals to residues: level c_l steps to the unit, entries beyond +-clip are clipped. */
export interface Quantizer {
  readonly level: number;
  readonly clip: number;
  readonly modulus: Modulus;
}

/** Fills the target with uniform 32-bit words: a keystream if a run must repeat, otherwise the system's generator. */
export type RandomWords = (target: Uint32Array) => void;

export interface Quantized {
  readonly vector: Uint32Array;
  readonly clipped: number;
}

export interface QuantizeOptions {
  /** Optional; faster, with the same bits. */
  readonly kernel?: VectorKernel | undefined;
  /** The vector to which residues are written, instead of a new one. */
  readonly into?: Uint32Array;
}

const WORDS_AT_ONCE = 16_384;
const WORD_TO_UNIT = 2 ** -32;

/**
 * The values, or as many zeros if one of them is not a finite number. A refusal would tell a server that chose the model on which data it
 * diverges.
 */
export function finiteOrZeros<Values extends Float32Array | Float64Array>(values: Values): Values {
  let wrong = 0;
  for (let k = 0; k < values.length; k++) wrong += Number.isFinite(values[k]) ? 0 : 1;
  return wrong === 0 ? values : (values.slice().fill(0) as Values);
}

/** The largest |X| one entry can become: ceil(c_l * clip). */
export function quantizedBound({ level, clip }: Pick<Quantizer, 'level' | 'clip'>): number {
  return Math.ceil(level * clip);
}

/**
 * X = ceil(c x - u) with u uniform in [0, 1), mapped to the residues: E X = c x (up to 2^-32, the grain of u). That is
 * floor(c x) + (u < c x - floor(c x)), without a branch that no processor can guess. `weight` in (0, 1] scales the clipped
 * entry first: x = Quant(weight * clip(values)). Not floor(c x + u): in doubles that can round up past the bound.
 */
export function quantize(
  given: Float32Array | Float64Array,
  quantizer: Quantizer,
  randomWords: RandomWords,
  weight = 1,
  { kernel, into }: QuantizeOptions = {},
): Quantized {
  if (!(weight > 0 && weight <= 1)) throw new RangeError(`weight must be in (0, 1], got ${weight}`);
  const values = finiteOrZeros(given);
  const vector = into ?? new Uint32Array(values.length);
  if (vector.length !== values.length) throw new RangeError(`${values.length} entries into ${vector.length}`);
  const words = new Uint32Array(Math.min(WORDS_AT_ONCE, values.length));
  const quantizeBlock = blockQuantizer(values, quantizer, weight, kernel);
  let clipped = 0;
  try {
    for (let start = 0; start < values.length; start += WORDS_AT_ONCE) {
      const end = Math.min(start + WORDS_AT_ONCE, values.length);
      randomWords(words);
      clipped += quantizeBlock(start, end, words, vector);
    }
    return { vector, clipped };
  } finally {
    words.fill(0);
    kernel?.wipe(); // The kernel still holds a part of the update.
  }
}

/** Quantises entries from `start` to `end`; returns the number of them that lie beyond the clip. */
type BlockQuantizer = (start: number, end: number, words: Uint32Array, vector: Uint32Array) => number;

function blockQuantizer(
  values: Float32Array | Float64Array,
  quantizer: Quantizer,
  weight: number,
  kernel: VectorKernel | undefined,
): BlockQuantizer {
  const isWide = quantizedBound(quantizer) > 0x7fff_ffff;
  if (isWide) return wideQuantizer(values, quantizer, weight);
  if (kernel?.elements === undefined || kernel.blockWords < WORDS_AT_ONCE || values instanceof Float64Array)
    return plainQuantizer(values, quantizer, weight);
  const { accumulator, elements } = kernel;
  const { level, clip, modulus } = quantizer;
  return (start, end, words, vector) => {
    const beyond = elements.quantize(values.subarray(start, end), words, { level, weight, clip });
    if (modulus.kind === 'field') elements.fieldResidues(end - start);
    else kernel.maskBits(end - start, modulus.bits);
    vector.set(accumulator.subarray(0, end - start), start);
    return beyond;
  };
}

/** Negative integers become residues by 32-bit arithmetic: 2^32 - q less, or without the bits above the ring's. */
function plainQuantizer(
  values: Float32Array | Float64Array,
  { level, clip, modulus }: Quantizer,
  weight: number,
): BlockQuantizer {
  const size = modulusSize(modulus);
  const gap = modulus.kind === 'field' ? 2 ** 32 - size : 0;
  const low = modulus.kind === 'field' ? -1 : (size - 1) | 0;
  return (start, end, words, vector) => {
    let beyond = 0;
    for (let k = start; k < end; k++) {
      let value = values[k] as number;
      if (!(Math.abs(value) <= clip)) {
        value = value > 0 ? clip : -clip;
        beyond++;
      }
      const integer = Math.ceil(level * (weight * value) - (words[k - start] as number) * WORD_TO_UNIT) | 0;
      vector[k] = (integer - (gap & (integer >> 31))) & low;
    }
    return beyond;
  };
}

/** For integers of more than 32 bits with their sign. */
function wideQuantizer(
  values: Float32Array | Float64Array,
  { level, clip, modulus }: Quantizer,
  weight: number,
): BlockQuantizer {
  const size = modulusSize(modulus);
  return (start, end, words, vector) => {
    let beyond = 0;
    for (let k = start; k < end; k++) {
      const value = values[k] as number;
      const clippedValue = Math.min(clip, Math.max(-clip, value));
      if (clippedValue !== value) beyond++;
      const rounded = Math.ceil(level * (weight * clippedValue) - (words[k - start] as number) * WORD_TO_UNIT);
      vector[k] = rounded < 0 ? rounded + size : rounded;
    }
    return beyond;
  };
}

/** Index of the first entry of a sum whose absolute value exceeds the bound, or -1. Sums of honest updates are always within the bound. */
export function firstOutOfRange(sum: Uint32Array, modulus: Modulus, bound: number, kernel?: VectorKernel): number {
  if (kernel?.elements === undefined) return outOfRangeFrom(sum, modulus, bound, 0);
  for (let start = 0; start < sum.length; start += kernel.blockWords) {
    const words = Math.min(kernel.blockWords, sum.length - start);
    loadBlock(kernel, sum, start, words);
    if (kernel.elements.hasBeyond(words, modulus, bound)) return outOfRangeFrom(sum, modulus, bound, start);
  }
  return -1;
}

function outOfRangeFrom(sum: Uint32Array, modulus: Modulus, bound: number, start: number): number {
  const size = modulusSize(modulus);
  for (let k = start; k < sum.length; k++) {
    const residue = sum[k] as number;
    if (residue > bound && size - residue > bound) return k;
  }
  return -1;
}

/** The divisor of a sum: plain summands count 1 each, weighted ones w of a scale W. */
export interface SumWeights {
  readonly weightSum: number;
  readonly weightScale: number;
}

/** mean = W * sum x / (c_l * sum w), entry by entry, from the representative of smallest absolute value. */
export function dequantizeSum(
  sum: Uint32Array,
  { level, modulus }: Pick<Quantizer, 'level' | 'modulus'>,
  { weightSum, weightScale }: SumWeights,
  kernel?: VectorKernel,
): Float32Array {
  const unit = weightScale / (level * weightSum);
  const mean = new Float32Array(sum.length);
  if (kernel?.elements === undefined) {
    const size = modulusSize(modulus);
    const capacity = signedCapacity(modulus);
    for (let k = 0; k < sum.length; k++) {
      const residue = sum[k] as number;
      mean[k] = (residue <= capacity ? residue : residue - size) * unit;
    }
    return mean;
  }
  for (let start = 0; start < sum.length; start += kernel.blockWords) {
    const words = Math.min(kernel.blockWords, sum.length - start);
    loadBlock(kernel, sum, start, words);
    mean.set(kernel.elements.dequantize(words, modulus, unit), start);
  }
  return mean;
}
