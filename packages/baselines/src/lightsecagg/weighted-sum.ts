/** The running sum of masked updates, each as often as its weight says. */
import { addInPlace, FIELD, subtractInPlace } from '@basa/masking';
import type { AggregationTools } from '../aggregation.ts';

export class WeightedSum {
  readonly #tools: AggregationTools;
  #sum: Uint32Array;

  constructor(dimension: number, tools: AggregationTools) {
    this.#tools = tools;
    this.#sum = new Uint32Array(dimension);
  }

  add(vector: Uint32Array, weight: number): void {
    if (weight === 1) {
      addInPlace(this.#sum, vector, FIELD, this.#tools.masks.kernel);
      return;
    }
    const next = new Uint32Array(this.#sum.length);
    this.#tools.combinations.combine([Uint32Array.of(1, weight)], [this.#sum, vector], [next]);
    this.#sum = next;
  }

  /** Returns the sum without the masks. */
  without(mask: Uint32Array): Uint32Array {
    subtractInPlace(this.#sum, mask, FIELD, this.#tools.masks.kernel);
    return this.#sum;
  }
}
