/**
 * The mean of weighted updates whose single ages are known: sum of alpha Delta, divided by K or by the sum of alpha.
 *
 * `count` is FedBuff's (Nguyen et al. 2022, Algorithm 1) and Algorithm 3 of the BASA paper: old updates make a shorter step.
 * `weights` is the BASA paper's text: updates that are equally old make the step of fresh ones.
 */
export type Divisor = 'count' | 'weights';

export class WeightedMean {
  readonly #sum: Float64Array;
  #weights = 0;
  #count = 0;

  constructor(dimension: number) {
    this.#sum = new Float64Array(dimension);
  }

  get count(): number {
    return this.#count;
  }

  get weights(): number {
    return this.#weights;
  }

  /** The weight is a staleness weight, a number of examples, or their product. */
  add(delta: Float32Array, weight = 1): void {
    if (delta.length !== this.#sum.length) {
      throw new RangeError(`a delta of ${delta.length} for a model of ${this.#sum.length} parameters`);
    }
    if (!(weight > 0 && weight < Number.POSITIVE_INFINITY)) {
      throw new RangeError(`weight must be positive, got ${weight}`);
    }
    for (let n = 0; n < delta.length; n++) {
      this.#sum[n] = (this.#sum[n] as number) + weight * (delta[n] as number);
    }
    this.#weights += weight;
    this.#count++;
  }

  /** Returns the mean so far and starts over. */
  take(divideBy: Divisor): Float64Array {
    if (this.#count === 0) throw new RangeError('no update to average');
    const divisor = divideBy === 'count' ? this.#count : this.#weights;
    const mean = this.#sum.map((sum) => sum / divisor);
    this.#sum.fill(0);
    this.#weights = 0;
    this.#count = 0;
    return mean;
  }
}
