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
 * X = floor(c x) + (u < c x - floor(c x)) with u uniform, mapped to the residues: E X = c x (up to 2^-32, the
 * grain of u). `weight` in (0, 1] scales the clipped entry first: x = Quant(weight * clip(values)).
 * Not floor(c x + u): in doubles that can round up past the bound for large c x.
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
  let clipped = 0;
  for (let start = 0; start < values.length; start += WORDS_AT_ONCE) {
    const end = Math.min(start + WORDS_AT_ONCE, values.length);
    randomWords(words);
    for (let k = start; k < end; k++) {
      let value = values[k] as number;
      if (!Number.isFinite(value)) return { kind: 'refused', reason: 'not-finite', index: k, value };
      if (value > clip || value < -clip) {
        value = value > 0 ? clip : -clip;
        clipped++;
      }
      const scaled = level * (weight * value);
      const below = Math.floor(scaled);
      const roundsUp = (words[k - start] as number) * WORD_TO_UNIT < scaled - below;
      const integer = roundsUp ? below + 1 : below;
      vector[k] = integer < 0 ? integer + size : integer;
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
