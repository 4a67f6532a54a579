/**
 * The server of one sum in LightSecAgg: the masked updates that are in, and the sum of their masks from any U answers.
 * It holds no update: its caller adds up the updates that `receiveMasked` accepts, each times its weight.
 */

import { addInPlace, FIELD, subtractInPlace } from '@basa/masking';
import type { AggregationTools } from '../aggregation.ts';
import type { CombinationKernel } from '../field/combination-kernel.ts';
import { type Refused, refused } from '../refusals.ts';
import type { MaskCode } from './mask-code.ts';
import type { MaskEntry } from './messages.ts';
import { type LightSecAggParameters, pieceLength } from './parameters.ts';

export class LightSecAggServer {
  readonly #parameters: LightSecAggParameters;
  readonly #code: MaskCode;
  readonly #entries: MaskEntry[] = [];
  readonly #answers = new Map<number, Uint32Array>();
  #isClosed = false;

  constructor(parameters: LightSecAggParameters, code: MaskCode) {
    this.#parameters = parameters;
    this.#code = code;
  }

  /** Accepts a masked update into the sum, once. */
  receiveMasked(entry: MaskEntry): Refused | undefined {
    const isThere = this.#entries.some(({ user, stamp }) => user === entry.user && stamp === entry.stamp);
    if (this.#isClosed || isThere) return refused('not-expected', `the update of user ${entry.user}`);
    this.#entries.push(entry);
    return undefined;
  }

  /** Closes the set; returns the entries that every reachable user is asked about. */
  close(): { readonly kind: 'entries'; readonly entries: readonly MaskEntry[] } | Refused {
    const { fewest } = this.#parameters;
    if (this.#entries.length < fewest) return refused('too-few', `${this.#entries.length} updates of ${fewest}`);
    this.#isClosed = true;
    return { kind: 'entries', entries: this.#entries };
  }

  get isOpenable(): boolean {
    return this.#answers.size >= this.#parameters.survivors;
  }

  receiveAnswer(user: number, share: Uint32Array): Refused | undefined {
    if (!this.#isClosed || this.#answers.has(user) || user >= this.#parameters.users) {
      return refused('not-expected', `an answer of user ${user}`);
    }
    if (share.length !== pieceLength(this.#parameters)) return refused('wrong-length', `${share.length} elements`);
    this.#answers.set(user, share);
    return undefined;
  }

  /** One-shot recovery: sum_i S_i z_i from the first U answers, from any users. */
  open(kernel: CombinationKernel): { readonly kind: 'mask'; readonly mask: Uint32Array } | Refused {
    const { survivors, dimension } = this.#parameters;
    if (!this.isOpenable) return refused('too-few-shares', `${this.#answers.size} answers of ${survivors}`);
    const used = [...this.#answers].slice(0, survivors);
    const pieces = this.#code.decode(
      used.map(([user]) => user),
      used.map(([, share]) => share),
      kernel,
    );
    const mask = new Uint32Array(dimension);
    for (const [m, piece] of pieces.entries()) {
      const start = m * piece.length;
      mask.set(piece.subarray(0, Math.max(0, Math.min(piece.length, dimension - start))), Math.min(start, dimension));
    }
    return { kind: 'mask', mask };
  }
}

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
