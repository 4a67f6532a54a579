/** The charges of single operations, from prices and profiles: seconds at one dimension and modulus. */
import {
  type Costs,
  type LightSecAggPrices,
  type ModulusOperation,
  type Profile,
  priced,
  type SealingPrices,
  type Share,
  type VectorPrices,
  type WordOperation,
} from './costs.ts';
import { codeKey } from './needs.ts';
import { type ProfiledName, profileKey } from './profiles.ts';
import type { Sampled } from './sampling.ts';

/** Every protocol sums in a ring except LightSecAgg, which divides. */
export type ModulusKind = 'ring' | 'field';

/**
 * A device masks long vectors on two threads under every protocol: the client's own numbers, in
 * packages/client/src/node/masks.ts.
 */
const MASK_THREADS = 2;
const LONG_ELEMENTS = 1 << 18;

export type Phase = Profile['phases'][number];

/** The names that the protocols give their phases. */
type NamedPhases = Record<'connect' | 'upload' | 'close' | 'keys' | 'shares' | 'masked-input' | 'unmasking', Phase>;

export class Tariff {
  readonly #costs: Costs;
  readonly #dimension: number;
  readonly #modulus: ModulusKind;

  constructor(costs: Costs, dimension: number, modulus: ModulusKind) {
    this.#costs = costs;
    this.#dimension = dimension;
    this.#modulus = modulus;
  }

  /** The time of a record that is flushed to the disk. */
  get durable(): number {
    return this.#costs.durable.ms / 1000;
  }

  /**
   * The work of the server on a body before it is accepted. In a ring every vector is valid; in the field each entry is
   * checked.
   */
  get receiving(): number {
    return this.words('copy') + this.vectors('hashBody', ...(this.#modulus === 'field' ? (['unpack'] as const) : []));
  }

  get #sealing(): SealingPrices {
    return priced(this.#costs.sealing, 'cp-abe');
  }

  get #prices(): VectorPrices {
    return priced(this.#costs.vectors, String(this.#dimension));
  }

  vectors(...operations: readonly ModulusOperation[]): number {
    return seconds(operations.map((operation) => this.#prices[this.#modulus][operation]));
  }

  field(...operations: readonly ModulusOperation[]): number {
    return seconds(operations.map((operation) => this.#prices.field[operation]));
  }

  words(...operations: readonly WordOperation[]): number {
    return seconds(operations.map((operation) => this.#prices.words[operation]));
  }

  code(users: number, summed: number): LightSecAggPrices {
    const key = codeKey({ code: 'published', users, dimension: this.#dimension, summed });
    return priced(this.#costs.lightSecAgg, key);
  }

  /** The seeds of `one-shot` mode are really sealed and opened in their profile: only CP-ABE is counted. */
  seconds({ ms, counts }: Share): number {
    const { seal, open, issue } = this.#sealing;
    const sealing = counts.seals * seal.ms + counts.opens * open.ms + counts.issues * issue.ms;
    return (ms + sealing) / 1000 + this.expansions({ counts });
  }

  /** The same for a device, which masks on its threads. */
  ofDevice(share: Share): number {
    const expansions = this.expansions(share);
    return this.seconds(share) - expansions + this.threaded(expansions);
  }

  /** Pieces are copied to the threads and back. */
  threaded(seconds: number): number {
    if (this.#dimension < LONG_ELEMENTS || seconds === 0) return seconds;
    return seconds / MASK_THREADS + this.words('copy', 'copy');
  }

  expansions({ counts }: Pick<Share, 'counts'>): number {
    return counts.expansions * this.vectors('expand');
  }

  phases(name: ProfiledName, users: number, leaving: number): Record<string, Phase> & NamedPhases {
    const { phases } = priced(this.#costs.profiles, profileKey({ name, users, leaving }));
    return Object.fromEntries(phases.map((phase) => [phase.name, phase])) as Record<string, Phase> & NamedPhases;
  }
}

function seconds(prices: readonly Sampled[]): number {
  return prices.reduce((sum, { ms }) => sum + ms, 0) / 1000;
}
