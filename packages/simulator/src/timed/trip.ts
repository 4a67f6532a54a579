/** One user's trip from a model to an update, and the events that others see of it. */
import type { TaskPolicy } from '@basa/protocol/policy';
import type { GateOptions } from './admission-gate.ts';
import type { Delay } from './delay.ts';

export interface Fleet {
  readonly users: number;
  /** The number of users that train at the same time: exactly in a closed system, at most if users arrive at intervals. */
  readonly concurrency: number;
  readonly arrivals: Arrivals;
  readonly computeSeconds: (user: number) => number;
  readonly delay: Delay;
  /** A device that is always slow takes this many times as long as others for everything before its upload. */
  readonly slowdown?: (user: number) => number;
  /** The share of trips whose user leaves before it uploads. */
  readonly dropouts: number;
  /** The weight of an update of this age in versions. */
  readonly weightOf: (staleness: number) => number;
  readonly bufferSize: number;
  /** Kmin: a buffer with this many updates is closed if no other user comes; K by default. */
  readonly minimum?: number;
  /** `versionMinimum`: a batch of `one-shot` mode may mix versions if each of them has this many updates in it. */
  readonly versionMinimum?: number;
  /** A step of the server takes at least this many updates, from one or more batches; without it, every batch makes a version. */
  readonly stepUpdates?: number;
  /** The versions in a buffer: one, as in `one-shot` mode, or mixed as in the paper (the default). */
  readonly versions?: TaskPolicy['versions'];
  /** The rule for the number of users that train at a time, the same as the server's; without it, every user may train. */
  readonly admission?: GateOptions;
  readonly seed: number;
}

/**
 * `closed`: when a user ends, another starts immediately. `constant`: users arrive at equal intervals, and may find no place, as in the
 * paper (appendix, Implementation).
 */
export type Arrivals = { readonly kind: 'closed' } | { readonly kind: 'constant'; readonly perSecond: number };

export interface Trip {
  /** Numbered in the order in which users start, including users that were admitted later. */
  readonly number: number;
  readonly user: number;
  /** Its place among the users that train at the same time. */
  readonly lane: number;
  /** The version it began with. */
  readonly version: number;
  readonly departed: number;
  readonly dropsOut: boolean;
}

/** An update that is in a version. */
export interface Included {
  readonly trip: Trip;
  readonly staleness: number;
  readonly weight: number;
}

export type TimedEvent =
  | { readonly kind: 'departed'; readonly time: number; readonly trip: Trip }
  /** Its user is free again. `fate` is the status of its update as far as it is known by then. */
  | { readonly kind: 'ended'; readonly time: number; readonly trip: Trip; readonly fate: Fate }
  | {
      readonly kind: 'version';
      readonly time: number;
      readonly version: number;
      readonly included: readonly Included[];
      /** The mean age of the updates when they are applied. */
      readonly meanAge: number;
    };

/**
 * `taken`: a buffer has the update. `stale`: its weight is zero. `lost`: the protocol had no room for it, or its version accepts no more
 * updates.
 */
export type Fate = 'taken' | 'stale' | 'lost' | 'dropped-out';
