/**
 * The view of the adversary in the one-shot mode: masked updates of honest devices, and sums of masks that honest
 * authorities released. Every output of the PRG is an unknown, named by salt and seed, unless the adversary has the
 * seed.
 */
import { type MaskTerm, toHex } from '@basa/masking';
import type { RefusalReason } from '@basa/protocol';
import type { AttackRefusal, AttackReport } from '../judgement.ts';
import { type Combination, describeCombination, isSpannedBy, learnedCombinations, type MaskedRow } from '../solve.ts';

/** An expansion, named by its salt and seed. */
export interface Expansion {
  readonly salt: string;
  readonly seed: string;
}

export function expansionOf({ salt = new Uint8Array(), seed }: MaskTerm): Expansion {
  return { salt: toHex(salt), seed: toHex(seed.reveal()) };
}

/** A batch that an honest authority considered final. */
export interface FinalBatch {
  readonly name: string;
  /** Symbols of the honest updates in it. */
  readonly inputs: readonly number[];
  readonly isEnough: boolean;
}

interface SeenRow {
  readonly input: number | undefined;
  readonly expansions: readonly Expansion[];
}

export class ShotTrace {
  readonly #seeds = new Set<string>();
  readonly #symbols = new Map<string, number>();
  readonly #rows: SeenRow[] = [];
  readonly #finals = new Map<string, FinalBatch>();
  readonly #names: string[] = [];
  readonly broken = new Set<string>();
  readonly #refusals: AttackRefusal[] = [];

  /** Takes over everything that another trace has seen. */
  continue(from: ShotTrace): void {
    for (const seed of from.#seeds) this.#seeds.add(seed);
    for (const [name, symbol] of from.#symbols) this.#symbols.set(name, symbol);
    for (const [name, batch] of from.#finals) this.#finals.set(name, batch);
    this.#rows.push(...from.#rows);
    this.#names.push(...from.#names);
    for (const promise of from.broken) this.broken.add(promise);
    this.#refusals.push(...from.#refusals);
  }

  /** An honest party refused a request of the adversary. */
  refused(by: AttackRefusal['by'], reason: RefusalReason): void {
    if (!this.#refusals.some((known) => known.by === by && known.reason === reason))
      this.#refusals.push({ by, reason });
  }

  /** A new honest update; it has one symbol in every batch. */
  newInput(name: string): number {
    return this.#names.push(name) - 1;
  }

  /** The adversary has this seed, and with it the mask under every salt. */
  knows(seed: string): void {
    this.#seeds.add(seed);
  }

  sawMasked(input: number, expansions: readonly Expansion[]): void {
    this.#rows.push({ input, expansions });
  }

  sawSum(expansions: readonly Expansion[]): void {
    this.#rows.push({ input: undefined, expansions });
  }

  final(batch: FinalBatch): void {
    if (!this.#finals.has(batch.name)) this.#finals.set(batch.name, batch);
  }

  judge(): AttackReport {
    const learned = learnedCombinations(this.#rows.map((row) => this.#masked(row))).filter(({ size }) => size > 0);
    const allowed = this.#allowed();
    const words = learned.map((one) => describeCombination(one, (symbol) => this.#names[symbol] ?? `x?${symbol}`));
    return {
      learned: words,
      leaked: isSpannedBy(learned, allowed) ? [] : words,
      closed: this.#finals.size,
      sums: allowed.length,
      sumsFound: allowed.filter((sum) => isSpannedBy([sum], learned)).length,
      broken: [...this.broken],
      refusals: this.#refusals,
    };
  }

  /** One sum for each final batch of enough devices, of updates that are in no earlier sum. */
  #allowed(): readonly Combination[] {
    const used = new Set<number>();
    return [...this.#finals.values()].flatMap(({ inputs, isEnough }) => {
      const fresh = [...new Set(inputs)].filter((symbol) => !used.has(symbol));
      for (const symbol of fresh) used.add(symbol);
      return isEnough && fresh.length > 0 ? [new Map(fresh.map((symbol) => [symbol, 1]))] : [];
    });
  }

  #masked({ input, expansions }: SeenRow): MaskedRow {
    const masks = new Map<number, number>();
    for (const { salt, seed } of expansions) {
      if (this.#seeds.has(seed)) continue;
      const name = `${salt}:${seed}`;
      const symbol = this.#symbols.get(name) ?? this.#symbols.size;
      this.#symbols.set(name, symbol);
      masks.set(symbol, (masks.get(symbol) ?? 0) + 1);
    }
    return { inputs: new Map(input === undefined ? [] : [[input, 1]]), masks };
  }
}
