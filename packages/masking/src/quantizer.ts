/**
 * The stochastic quantiser of LightSecAgg (So et al. 2022), which the paper adopts: unbiased, one stream of
 * random words for the whole vector.
 */
import type { Modulus } from './modulus.ts';
import { modulusSize, signedCapacity } from './modulus.ts';

/** How reals become residues: level c_l steps to the unit, entries beyond +-clip are clipped. */
export interface Quantizer {
  readonly level: number;
  readonly clip: number;
  readonly modulus: Modulus;
}

/** Fills the target with uniform 32-bit words: a keystream where a run must repeat, the system's generator elsewhere. */
export type RandomWords = (target: Uint32Array) => void;

export type Quantized =
  | { readonly kind: 'quantized'; readonly vector: Uint32Array; readonly clipped: number }
  | { readonly kind: 'refused'; readonly reason: 'not-finite'; readonly index: number; readonly value: number };

const WORDS_AT_ONCE = 16_384;
const WORD_TO_UNIT = 2 ** -32;

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
  values: Float32Array | Float64Array,
  { level, clip, modulus }: Quantizer,
  randomWords: RandomWords,
  weight = 1,
): Quantized {
  if (!(weight > 0 && weight <= 1)) throw new RangeError(`weight must be in (0, 1], got ${weight}`);
  const vector = new Uint32Array(values.length);
  const words = new Uint32Array(Math.min(WORDS_AT_ONCE, values.length));
  const size = modulusSize(modulus);
  // Negative integers become residues by 32-bit arithmetic: 2^32 - q less, or without the bits above the ring's.
  const gap = modulus.kind === 'field' ? 2 ** 32 - size : 0;
  const low = modulus.kind === 'field' ? -1 : (size - 1) | 0;
  const isWide = quantizedBound({ level, clip }) > 0x7fff_ffff;
  let clipped = 0;
  for (let start = 0; start < values.length; start += WORDS_AT_ONCE) {
    const end = Math.min(start + WORDS_AT_ONCE, values.length);
    randomWords(words);
    for (let k = start; k < end; k++) {
      let value = values[k] as number;
      if (!(Math.abs(value) <= clip)) {
        if (!Number.isFinite(value)) return { kind: 'refused', reason: 'not-finite', index: k, value };
        value = value > 0 ? clip : -clip;
        clipped++;
      }
      const rounded = Math.ceil(level * (weight * value) - (words[k - start] as number) * WORD_TO_UNIT);
      if (isWide) vector[k] = rounded < 0 ? rounded + size : rounded;
      else {
        const integer = rounded | 0;
        vector[k] = (integer - (gap & (integer >> 31))) & low;
      }
    }
  }
  words.fill(0);
  return { kind: 'quantized', vector, clipped };
}

/** Index of the first entry of a sum whose absolute value exceeds the bound, or -1: a sum that no honest set has. */
export function firstOutOfRange(sum: Uint32Array, modulus: Modulus, bound: number): number {
  const size = modulusSize(modulus);
  for (let k = 0; k < sum.length; k++) {
    const residue = sum[k] as number;
    if (residue > bound && size - residue > bound) return k;
  }
  return -1;
}

/** What a sum is divided by: plain summands count 1 each, weighted ones w of a scale W. */
export interface SumWeights {
  readonly weightSum: number;
  readonly weightScale: number;
}

/** mean = W * sum x / (c_l * sum w), entry by entry, from the representative of smallest absolute value. */
export function dequantizeSum(
  sum: Uint32Array,
  { level, modulus }: Pick<Quantizer, 'level' | 'modulus'>,
  { weightSum, weightScale }: SumWeights,
): Float32Array {
  const unit = weightScale / (level * weightSum);
  const size = modulusSize(modulus);
  const capacity = signedCapacity(modulus);
  const mean = new Float32Array(sum.length);
  for (let k = 0; k < sum.length; k++) {
    const residue = sum[k] as number;
    mean[k] = (residue <= capacity ? residue : residue - size) * unit;
  }
  return mean;
}
