/**
 * The view of the adversary: masked updates of honest devices, and sums of masks that honest authorities released. Every output of the
 * PRG is an unknown, unless the adversary has its seed.
 */
import type { RefusalReason } from '@basa/protocol';
import {
  type AttackRefusal,
  type Combination,
  describeCombination,
  isSpannedBy,
  learnedCombinations,
  type MaskedRow,
} from '@basa/simulator/attacks';

/** The result of an attack. */
export interface AttackReport {
  /** Combinations of honest inputs the adversary can compute, for people. */
  readonly learned: readonly string[];
  /** The same, as far as they exceed the sums of the final batches; empty means that nothing leaked. */
  readonly leaked: readonly string[];
  readonly closed: number;
  /** Final batches with honest uploads. */
  readonly sums: number;
  /** Those whose sum over honest uploads the adversary can compute, as it should. */
  readonly sumsFound: number;
  /** Violations other than secrecy. */
  readonly broken: readonly string[];
  /** The requests that honest devices and authorities refused, each once. */
  readonly refusals: readonly AttackRefusal[];
}

/** One output of the PRG, by a name that only its seed and its salt have. */
export type MaskName = string;

/** A batch of which an honest authority released something. */
export interface ReleasedBatch {
  readonly name: string;
  /** Symbols of the honest updates in it. */
  readonly inputs: readonly number[];
  /** It has Kmin devices, and its uploads name one model statement. */
  readonly isAllowed: boolean;
}

interface SeenRow {
  readonly input: number | undefined;
  readonly masks: readonly MaskName[];
}

export class Trace {
  readonly #known = new Set<MaskName>();
  readonly #rows: SeenRow[] = [];
  readonly #released = new Map<string, ReleasedBatch>();
  readonly #inputs: string[] = [];
  readonly broken = new Set<string>();
  readonly #refusals: AttackRefusal[] = [];

  /** An honest party refused a request of the adversary. */
  refused(by: AttackRefusal['by'], reason: RefusalReason): void {
    if (!this.#refusals.some((known) => known.by === by && known.reason === reason))
      this.#refusals.push({ by, reason });
  }

  /** A new honest update; it has one symbol in every upload. */
  newInput(name: string): number {
    return this.#inputs.push(name) - 1;
  }

  /** The adversary can compute this mask. */
  knows(mask: MaskName): void {
    this.#known.add(mask);
  }

  isKnown(mask: MaskName): boolean {
    return this.#known.has(mask);
  }

  sawMasked(input: number, masks: readonly MaskName[]): void {
    this.#rows.push({ input, masks });
  }

  sawSum(masks: readonly MaskName[]): void {
    this.#rows.push({ input: undefined, masks });
  }

  released(batch: ReleasedBatch): void {
    if (!this.#released.has(batch.name)) this.#released.set(batch.name, batch);
  }

  judge(): AttackReport {
    const learned = learnedCombinations(this.#masked()).filter(({ size }) => size > 0);
    const allowed = this.#allowed();
    const words = learned.map((one) => describeCombination(one, (symbol) => this.#inputs[symbol] ?? `x?${symbol}`));
    return {
      learned: words,
      leaked: isSpannedBy(learned, allowed) ? [] : words,
      closed: this.#released.size,
      sums: allowed.length,
      sumsFound: allowed.filter((sum) => isSpannedBy([sum], learned)).length,
      broken: [...this.broken],
      refusals: this.#refusals,
    };
  }

  /** The sums that the promise allows: of batches that are large enough and on one model, each update in one of them. */
  #allowed(): readonly Combination[] {
    const used = new Set<number>();
    return [...this.#released.values()].flatMap(({ inputs, isAllowed }) => {
      const isFresh = inputs.every((symbol) => !used.has(symbol));
      for (const symbol of inputs) used.add(symbol);
      return isAllowed && isFresh && inputs.length > 0 ? [new Map(inputs.map((symbol) => [symbol, 1]))] : [];
    });
  }

  #masked(): readonly MaskedRow[] {
    const symbols = new Map<MaskName, number>();
    return this.#rows.map(({ input, masks }) => {
      const unknown = new Map<number, number>();
      for (const name of masks) {
        if (this.#known.has(name)) continue;
        const symbol = symbols.get(name) ?? symbols.size;
        symbols.set(name, symbol);
        unknown.set(symbol, (unknown.get(symbol) ?? 0) + 1);
      }
      return { inputs: new Map(input === undefined ? [] : [[input, 1]]), masks: unknown };
    });
  }
}
