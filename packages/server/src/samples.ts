/** The newest durations, and how long nearly all of them took. */

/** Fewer say nothing about the slowest of them. */
const MIN_SAMPLES = 20;
const MAX_SAMPLES = 256;

export class Samples {
  readonly #values: number[] = [];
  #next = 0;

  add(value: number): void {
    this.#values[this.#next] = value;
    this.#next = (this.#next + 1) % MAX_SAMPLES;
  }

  /** Undefined while there are too few. */
  quantile(share: number): number | undefined {
    const { length } = this.#values;
    if (length < MIN_SAMPLES) return undefined;
    return [...this.#values].sort((a, b) => a - b)[Math.min(length - 1, Math.floor(share * length))];
  }
}
