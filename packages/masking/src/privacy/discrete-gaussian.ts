/**
 * The discrete Gaussian N_Z(0, s^2), P(k) proportional to exp(-k^2 / (2 s^2)) (Canonne, Kamath, Steinke 2020), from a
 * table of exact 128-bit integers: no floating point decides about a probability. The distance to the true distribution
 * is below 2^-110 per draw. The time of a draw reveals only the entry at which its search ends.
 */
import { type Modulus, modulusSize } from '../modulus.ts';
import type { RandomWords } from '../quantizer.ts';

/** Cumulative probabilities of |k|, in units of 2^-127: an outcome is the first |k| whose bound the draw is below. */
export interface NoiseTable {
  readonly variance: number;
  /** The first 32 bits of each bound. */
  readonly first: Uint32Array;
  /** The 96 bits behind them, three words each; the last bit of a draw is its sign, and no bit of a bound. */
  readonly rest: Uint32Array;
}

/** The largest s: its table has 880,000 entries. */
export const MAX_NOISE_DEVIATION = 65_536;

/** Fractional bits of the computation: the rounding errors of 10^6 products stay far below the 127 bits of the table. */
const FRACTION = 256n;
const ONE = 1n << FRACTION;
const TABLE_BITS = 127n;
/** The table ends at outcomes that are rarer than this compared with 0. */
const TAIL = 1n << (FRACTION - 132n);
const WORD = 0xffff_ffffn;

const WORDS_A_DRAW = 4;
const DRAWS_AT_ONCE = 4096;

export function noiseTable(variance: number): NoiseTable {
  if (!(variance >= 0.25 && variance <= MAX_NOISE_DEVIATION ** 2))
    throw new RangeError(`the variance must be from 1/4 to ${MAX_NOISE_DEVIATION}^2, got ${variance}`);
  const weights = weightsOf(variance);
  const total = weights.reduce((sum, weight, k) => sum + (k === 0 ? weight : 2n * weight), 0n);
  // The last bound is 2^127, which every draw is below: it is left out.
  const count = weights.length - 1;
  const [first, rest] = [new Uint32Array(count), new Uint32Array(3 * count)];
  let sum = 0n;
  for (let k = 0; k < count; k++) {
    sum += (k === 0 ? 1n : 2n) * (weights[k] as bigint);
    const bound = ((sum << TABLE_BITS) / total) << 1n;
    first[k] = Number(bound >> 96n);
    rest[3 * k] = Number((bound >> 64n) & WORD);
    rest[3 * k + 1] = Number((bound >> 32n) & WORD);
    rest[3 * k + 2] = Number(bound & WORD);
  }
  return { variance, first, rest };
}

/** exp(-k^2 / (2 s^2)) for k = 0, 1, .. in units of 2^-256: each from the one before by exp(-(2k + 1) / (2 s^2)). */
function weightsOf(variance: number): readonly bigint[] {
  const [numerator, denominator] = fractionOf(variance);
  const ratio = expMinus(denominator, 2n * numerator);
  const square = (ratio * ratio) >> FRACTION;
  const weights: bigint[] = [];
  let [weight, step] = [ONE, ratio];
  while (weight > TAIL) {
    weights.push(weight);
    weight = (weight * step) >> FRACTION;
    step = (step * square) >> FRACTION;
  }
  return weights;
}

/** Converts a double into an exact fraction. */
function fractionOf(value: number): readonly [numerator: bigint, denominator: bigint] {
  let [scaled, denominator] = [value, 1n];
  while (!Number.isInteger(scaled)) [scaled, denominator] = [2 * scaled, 2n * denominator];
  return [BigInt(scaled), denominator];
}

/** exp(-numerator / denominator) in units of 2^-256, by its series; for arguments up to 2. */
function expMinus(numerator: bigint, denominator: bigint): bigint {
  let [sum, term] = [0n, ONE];
  for (let n = 1n; term !== 0n; n++) {
    sum += n % 2n === 1n ? term : -term;
    term = (term * numerator) / (denominator * n);
  }
  return sum;
}

/** Adds an independent draw to every residue. Each draw takes four words, regardless of its outcome. */
export function addNoiseInPlace(
  vector: Uint32Array,
  { first, rest }: NoiseTable,
  modulus: Modulus,
  randomWords: RandomWords,
): void {
  const size = modulusSize(modulus);
  const words = new Uint32Array(WORDS_A_DRAW * Math.min(DRAWS_AT_ONCE, vector.length));
  const count = first.length;
  for (let start = 0; start < vector.length; start += DRAWS_AT_ONCE) {
    const end = Math.min(start + DRAWS_AT_ONCE, vector.length);
    randomWords(words);
    for (let k = start; k < end; k++) {
      const at = WORDS_A_DRAW * (k - start);
      const word = words[at] as number;
      let [low, high] = [0, count];
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((first[middle] as number) < word) low = middle + 1;
        else high = middle;
      }
      // If a bound has the same first word as the draw, the other words decide.
      while (low < count && first[low] === word && !isBelow(words, at, rest, low)) low++;
      const isNegative = ((words[at + 3] as number) & 1) === 1;
      const moved = (vector[k] as number) + (isNegative ? -low : low);
      vector[k] = moved < 0 ? moved + size : moved >= size ? moved - size : moved;
    }
  }
  words.fill(0);
}

function isBelow(words: Uint32Array, at: number, rest: Uint32Array, entry: number): boolean {
  for (let n = 0; n < 3; n++) {
    const [drawn, bound] = [words[at + 1 + n] as number, rest[3 * entry + n] as number];
    // The last bit of the draw is its sign.
    const value = n === 2 ? (drawn & ~1) >>> 0 : drawn;
    if (value !== bound) return value < bound;
  }
  return false;
}
