/**
 * Everything that the adversary (the server and its colluding users) has seen, and everything that it can compute from this. Seeds are
 * named by their first word. Every key is tried on every sealed seed.
 */
import { equalBytes, type MaskPlan, toHex } from '@basa/masking';
import type { Ctx } from '@basa/protocol';
import type { Judgement } from '../../attacks/judgement.ts';
import {
  type Combination,
  describeCombination,
  isSpannedBy,
  learnedCombinations,
  type MaskedRow,
} from '../../attacks/solve.ts';
import type { Opener } from './openers.ts';

interface SeenVector {
  readonly input: number;
  readonly masks: ReadonlyMap<number, { readonly seed: number; readonly sign: number }>;
}

interface Closing {
  readonly ctx: Ctx;
  /** Symbols of the honest accepted inputs. */
  readonly inputs: readonly number[];
  readonly isEnough: boolean;
  /** The authority withholds the key of a slot: its record of the slot contradicts the server's. */
  readonly isWithheld: boolean;
}

/** Mask symbols are (buffer, seed): the same seed expands to another mask in another buffer. */
const MAX_SEEDS = 2 ** 32;

export class Trace {
  readonly #known = new Set<number>();
  readonly #keys = new Map<string, Uint8Array>();
  readonly #sealed: Opener[] = [];
  readonly #seen: SeenVector[] = [];
  readonly #buffers: Ctx[] = [];
  readonly #closings: Closing[] = [];
  readonly #names: string[] = [];

  /** A new honest input; one symbol for one update, in every buffer. */
  newInput(name: string): number {
    this.#names.push(name);
    return this.#names.length - 1;
  }

  /** The adversary drew this seed itself. */
  knows(seed: number): void {
    this.#known.add(seed);
  }

  sawSealed(open: Opener): void {
    this.#sealed.push(open);
  }

  /** A key that was issued to a colluder, released at close, or made by the adversary itself. */
  gotKey(key: Uint8Array): void {
    this.#keys.set(toHex(key), key);
  }

  /** A masked vector of an honest user, or a part of one: every coordinate has the same masks. */
  sawMasked(input: number, { salt, terms }: MaskPlan): void {
    const buffer = this.#bufferOf(salt as Ctx);
    const masks = new Map<number, { seed: number; sign: number }>();
    for (const { seed: secret, sign } of terms) {
      const seed = nameOfSeed(secret.reveal());
      const symbol = buffer * MAX_SEEDS + seed;
      masks.set(symbol, { seed, sign: sign + (masks.get(symbol)?.sign ?? 0) });
    }
    this.#seen.push({ input, masks });
  }

  /** The authority closed the buffer; only its first close counts. */
  closed(closing: Closing): void {
    if (!this.#closings.some(({ ctx }) => equalBytes(ctx, closing.ctx))) this.#closings.push(closing);
  }

  judge(): Judgement {
    const learned = learnedCombinations(this.#rows());
    const sums = this.#allowed();
    const allowed = sums.map(({ sum }) => sum);
    const missing = sums.filter(({ sum }) => !isSpannedBy([sum], learned));
    const words = learned.map((combination) => describeCombination(combination, (symbol) => this.#nameOf(symbol)));
    return {
      learned: words,
      leaked: isSpannedBy(learned, allowed) ? [] : words,
      closed: this.#closings.length,
      sums: allowed.length,
      sumsFound: allowed.length - missing.length,
      sumsWithheld: missing.filter(({ isWithheld }) => isWithheld).length,
    };
  }

  /**
   * The allowed sums: one for each closed buffer, of inputs that are in no earlier sum. A buffer that closed with too few updates has no
   * allowed sum, and an input must not be in a second sum.
   */
  #allowed(): readonly { readonly sum: Combination; readonly isWithheld: boolean }[] {
    const used = new Set<number>();
    return this.#closings.flatMap(({ inputs, isEnough, isWithheld }) => {
      const fresh = inputs.filter((symbol) => !used.has(symbol));
      for (const symbol of fresh) used.add(symbol);
      return isEnough && fresh.length > 0 ? [{ sum: new Map(fresh.map((symbol) => [symbol, 1])), isWithheld }] : [];
    });
  }

  #rows(): readonly MaskedRow[] {
    const known = new Set(this.#known);
    for (const open of this.#sealed) {
      for (const key of this.#keys.values()) {
        const seed = open(key);
        if (seed === undefined) continue;
        known.add(nameOfSeed(seed));
        break;
      }
    }
    return this.#seen.map(({ input, masks }) => ({
      inputs: new Map([[input, 1]]),
      masks: new Map(
        [...masks].flatMap(([symbol, { seed, sign }]) => (known.has(seed) || sign === 0 ? [] : [[symbol, sign]])),
      ),
    }));
  }

  #nameOf(symbol: number): string {
    return this.#names[symbol] ?? `x?${symbol}`;
  }

  #bufferOf(ctx: Ctx): number {
    const known = this.#buffers.findIndex((other) => equalBytes(other, ctx));
    return known >= 0 ? known : this.#buffers.push(ctx) - 1;
  }
}

/** The word a seed starts with: unique, since seeds are drawn from a counter. */
export function nameOfSeed(bytes: Uint8Array): number {
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  return (a | (b << 8) | (c << 16) | (d << 24)) >>> 0;
}
