/** The costs of all operations on one machine: measured once, written to costs.json, charged to virtual time. */
import type { Counted } from './meter.ts';
import type { Sampled } from './sampling.ts';

export interface Machine {
  readonly cpu: string;
  readonly architecture: string;
  readonly cores: number;
  readonly node: string;
  /** Load average at the time of the measurement. */
  readonly load: number;
  readonly date: string;
}

/** One party in one phase: the time of everything that is not counted, and the counts. */
export interface Share {
  readonly ms: number;
  readonly counts: Readonly<Record<Counted, number>>;
}

/** A protocol run in full at a tiny dimension. `users` has one entry for each user that stayed. */
export interface Profile {
  readonly phases: readonly {
    readonly name: string;
    readonly users: readonly Share[];
    readonly server: Share;
    readonly authority: Share;
  }[];
}

/** LightSecAgg at the true dimension. */
export interface LightSecAggPrices {
  /** Draw and encode a mask, and seal a share for each user. */
  readonly encode: Sampled;
  /** Open a share that another one sent. */
  readonly receive: Sampled;
  /** Add up the shares of as many updates as are summed. */
  readonly answer: Sampled;
  readonly decode: Sampled;
}

/** By dimension, by sealing, by protocol and users. The comment of each map describes its keys. */
export interface Costs {
  readonly machine: Machine;
  readonly clock: 'processor time';
  /** By d. */
  readonly vectors: Readonly<Record<string, VectorPrices>>;
  /** By sealing: only `cp-abe`. */
  readonly sealing: Readonly<Record<string, SealingPrices>>;
  /** By `protocol n`. */
  readonly profiles: Readonly<Record<string, Profile>>;
  /** By `N d summed`. */
  readonly lightSecAgg: Readonly<Record<string, LightSecAggPrices>>;
  /** By model: one example learned. */
  readonly training: Readonly<Record<string, Sampled>>;
  /** A record made durable, in wall-clock time, because a disk does not use the processor. */
  readonly durable: Sampled;
}

/**
 * Costs to expand and add one mask, to add, quantise, pack and unpack one vector, to hash a body, and to check a sum and convert it to
 * floats.
 */
export type ModulusOperation = 'expand' | 'add' | 'quantise' | 'pack' | 'unpack' | 'hashBody' | 'judge' | 'dequantise';

/** Independent of the modulus: words copied, and an update of floats added without any secure aggregation. */
export type WordOperation = 'copy' | 'floatAdd';

/** Rings wrap around for free and pack tighter; the field is for protocols that divide, as LightSecAgg does. */
export interface VectorPrices {
  readonly ring: Readonly<Record<ModulusOperation, Sampled>>;
  readonly field: Readonly<Record<ModulusOperation, Sampled>>;
  readonly words: Readonly<Record<WordOperation, Sampled>>;
}

export interface SealingPrices {
  readonly seal: Sampled;
  readonly open: Sampled;
  readonly issue: Sampled;
  readonly sealedBytes: number;
  readonly keyBytes: number;
}

/** A missing price is a mistake of the experiment, not zero. */
export function priced<Price>(prices: Readonly<Record<string, Price>>, key: string): Price {
  const price = prices[key];
  if (price === undefined) throw new Error(`the costs have nothing for "${key}"; measure them again`);
  return price;
}
