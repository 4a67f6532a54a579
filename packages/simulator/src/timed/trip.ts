/** One user's way from a model to an update, and what others see of it. */
import type { AdmissionOptions, Versions } from '@basa/protocol';
import type { Delay } from './delay.ts';
import type { Link } from './link.ts';

export interface Fleet {
  readonly users: number;
  /** How many train at the same time: always in a closed system, at most with open arrivals. */
  readonly concurrency: number;
  readonly arrivals: Arrivals;
  readonly examplesOf: (user: number) => number;
  readonly computeSeconds: (user: number) => number;
  readonly delay: Delay;
  /** Share of trips whose user leaves before it uploads. */
  readonly dropouts: number;
  readonly link: Link;
  /** What a user fetches before it trains. */
  readonly modelBytes: number;
  /** How much an update counts that is so many versions old. */
  readonly weightOf: (staleness: number) => number;
  readonly bufferSize: number;
  /** Kmin: a buffer with so many updates is closed where nobody else comes; K by default. */
  readonly minimum?: number;
  /** Whether sealed buffers are of one version, or mix them as the paper does. Without it, as the paper does. */
  readonly versions?: Versions;
  /** H: opened sums that make a version in the one-shot mode; 1 by default. */
  readonly sumsPerVersion?: number;
  /** Who may train at a time, decided as the server does; without it, everybody. */
  readonly admission?: AdmissionOptions;
  readonly seed: number;
}

/**
 * `closed`: whoever ends is followed at once. `open`: users come by themselves, in a Poisson process, and find a place or not.
 * `constant`: they come at equal distances, as the paper has it (appendix, Implementation).
 */
export type Arrivals = { readonly kind: 'closed' } | { readonly kind: 'open' | 'constant'; readonly perSecond: number };

export interface Trip {
  /** In the order in which users set out, whether they were admitted at once or later. */
  readonly number: number;
  readonly user: number;
  /** Its place among those that train at the same time. */
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
  /** Its user is free again. What became of its update, where that is certain by now. */
  | { readonly kind: 'ended'; readonly time: number; readonly trip: Trip; readonly fate: Fate }
  | {
      readonly kind: 'version';
      readonly time: number;
      readonly version: number;
      readonly included: readonly Included[];
      /** How old the updates are on the average now that they are applied. */
      readonly meanAge: number;
    };

/** `taken`: a buffer has it. `stale`: its weight is zero. `lost`: the protocol had no room for it, or its version takes no more. */
export type Fate = 'taken' | 'stale' | 'lost' | 'dropped-out';
