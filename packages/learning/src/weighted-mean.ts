/** sum of alpha Delta / sum of alpha: the normalisation of the BASA paper, for every protocol alike. */

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

  /** The mean so far; starts over. */
  take(): Float64Array {
    if (this.#count === 0) throw new RangeError('no update to average');
    const mean = this.#sum.map((sum) => sum / this.#weights);
    this.#sum.fill(0);
    this.#weights = 0;
    this.#count = 0;
    return mean;
  }
}
