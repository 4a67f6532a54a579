/**
 * One mean of several: a version may be made of several sums, each of them the mean of a group of devices.
 *
 * `mean` weighs each by the examples behind it and by its age. `trimmed` is the coordinate-wise trimmed mean (Yin et al. 2018): of each
 * coordinate it leaves out the smallest and the largest fifth of the values, at least one on each side. As long as no more groups than that
 * lie, every coordinate stays within the values of the honest groups. Examples do not count there: they are the word of the devices.
 */
import { type Damping, dampingFactor } from './server-step.ts';

type Vector = Float32Array | Float64Array;

export interface WeighedMean {
  readonly mean: Vector;
  /** The sum of the weights of its updates, in any unit that all of them share. */
  readonly weight: number;
  /** The age of its updates, in versions. */
  readonly age: number;
}

export interface CombineOptions {
  readonly combine: 'mean' | 'trimmed';
  readonly damping: Damping;
}

/** A single mean stays as it is. */
export function combineMeans(means: readonly WeighedMean[], { combine, damping }: CombineOptions): Vector {
  const [first] = means;
  if (first === undefined) throw new RangeError('there is no mean to combine');
  if (means.length === 1) return first.mean;
  const vectors = means.map(({ mean }) => mean);
  if (combine === 'trimmed')
    return trimmedMean(
      vectors,
      means.map(({ age }) => dampingFactor(damping, age)),
    );
  return weightedMean(
    vectors,
    means.map(({ weight, age }) => weight * dampingFactor(damping, age)),
  );
}

function weightedMean(vectors: readonly Vector[], weights: readonly number[]): Float64Array {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (!(total > 0 && total < Number.POSITIVE_INFINITY)) throw new RangeError(`weights must be positive, got ${total}`);
  const combined = new Float64Array(lengthOf(vectors));
  for (const [n, vector] of vectors.entries()) {
    const share = (weights[n] as number) / total;
    for (let i = 0; i < combined.length; i++) combined[i] = (combined[i] as number) + share * (vector[i] as number);
  }
  return combined;
}

/** The number of values of each coordinate that are left out on each side. */
export function trimmedPerSide(count: number): number {
  if (count < 3) throw new RangeError(`a trimmed mean needs at least three values, got ${count}`);
  return Math.max(1, Math.floor(count / 5));
}

/** For each coordinate, the mean of the values between the smallest and the largest ones, weighted by these positive numbers. */
export function trimmedMean(vectors: readonly Vector[], weights: readonly number[]): Float64Array {
  const count = vectors.length;
  const left = trimmedPerSide(count);
  const combined = new Float64Array(lengthOf(vectors));
  const [values, shares] = [new Float64Array(count), new Float64Array(count)];
  for (let i = 0; i < combined.length; i++) {
    for (let n = 0; n < count; n++) insert(values, shares, n, vectors[n]?.[i] as number, weights[n] as number);
    combined[i] = meanBetween(values, shares, left, count - left);
  }
  return combined;
}

/** The first `count` values are in ascending order, before and after the call. */
function insert(values: Float64Array, shares: Float64Array, count: number, value: number, share: number): void {
  let at = count;
  for (; at > 0 && (values[at - 1] as number) > value; at--) {
    values[at] = values[at - 1] as number;
    shares[at] = shares[at - 1] as number;
  }
  values[at] = value;
  shares[at] = share;
}

/** Rounding never takes the mean outside the range of its values. */
function meanBetween(values: Float64Array, shares: Float64Array, from: number, to: number): number {
  let [sum, total] = [0, 0];
  for (let n = from; n < to; n++) {
    sum += (shares[n] as number) * (values[n] as number);
    total += shares[n] as number;
  }
  return Math.min(values[to - 1] as number, Math.max(values[from] as number, sum / total));
}

function lengthOf(vectors: readonly Vector[]): number {
  const length = vectors[0]?.length ?? 0;
  const other = vectors.find((vector) => vector.length !== length);
  if (other !== undefined) throw new RangeError(`means of ${length} and of ${other.length} coordinates`);
  return length;
}
