/**
 * Turns an update into integers whose norm is certainly bounded: clipped to an L2 norm, scaled, and rounded
 * stochastically until the result is short enough (conditional rounding of Kairouz, Liu, Steinke 2021). Its effect on
 * the mean is below the noise.
 */
import { finiteOrZeros, type Quantizer, type RandomWords } from '../quantizer.ts';

/** b of the paper: rounding once exceeds the bound with this probability at most. In practice it hardly ever does. */
const RETRY = Math.exp(-1 / 2);
/** An event that happens once in 10^200 draws of the worst input is a fault of the generator. */
const MAX_TRIES = 1000;
const WORD_TO_UNIT = 2 ** -32;

/** D^2 = (c C)^2 + d/4 + sqrt(2 ln(1/b)) (c C + sqrt(d)/2): no rounded update is longer than D. */
export function squaredBound(dimension: number, { level, clip }: Pick<Quantizer, 'level' | 'clip'>): number {
  const radius = level * clip;
  const slack = Math.sqrt(2 * Math.log(1 / RETRY)) * (radius + Math.sqrt(dimension) / 2);
  return radius ** 2 + dimension / 4 + slack;
}

export interface Rounded {
  readonly integers: Int32Array;
  /** Of the values, before they were clipped. */
  readonly norm: number;
}

/** `weight` in (0, 1] scales the clipped update. */
export function roundWithin(
  given: Float32Array | Float64Array,
  quantizer: Pick<Quantizer, 'level' | 'clip'>,
  randomWords: RandomWords,
  weight = 1,
): Rounded {
  if (!(weight > 0 && weight <= 1)) throw new RangeError(`weight must be in (0, 1], got ${weight}`);
  const values = finiteOrZeros(given);
  let squares = 0;
  for (let k = 0; k < values.length; k++) squares += (values[k] as number) ** 2;
  const norm = Math.sqrt(squares);
  const factor = quantizer.level * (weight * (norm > quantizer.clip ? quantizer.clip / norm : 1));
  const most = squaredBound(values.length, quantizer);
  const integers = new Int32Array(values.length);
  const words = new Uint32Array(values.length);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    randomWords(words);
    if (roundOnce(values, factor, words, integers) > most) continue;
    words.fill(0);
    return { integers, norm };
  }
  throw new Error(`${MAX_TRIES} roundings in a row were too long: the random words are not random`);
}

/** Returns the squared norm of the integers it wrote. */
function roundOnce(
  values: Float32Array | Float64Array,
  factor: number,
  words: Uint32Array,
  integers: Int32Array,
): number {
  let squares = 0;
  for (let k = 0; k < values.length; k++) {
    const scaled = factor * (values[k] as number);
    const below = Math.floor(scaled);
    const integer = (words[k] as number) * WORD_TO_UNIT < scaled - below ? below + 1 : below;
    integers[k] = integer;
    squares += integer * integer;
  }
  return squares;
}
