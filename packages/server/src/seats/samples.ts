/** The newest durations, and how long nearly all of them took. */

const MAX_SAMPLES = 256;

export class Samples {
  readonly #minimum: number;
  readonly #values: number[] = [];
  #next = 0;

  /** Fewer than `minimum` say nothing about the slowest of them. */
  constructor(minimum: number) {
    this.#minimum = minimum;
  }

  add(value: number): void {
    this.#values[this.#next] = value;
    this.#next = (this.#next + 1) % MAX_SAMPLES;
  }

  /** Undefined while there are too few. */
  quantile(share: number): number | undefined {
    const { length } = this.#values;
    if (length < this.#minimum) return undefined;
    return [...this.#values].sort((a, b) => a - b)[Math.min(length - 1, Math.floor(share * length))];
  }
}
