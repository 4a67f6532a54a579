/**
 * Admission before training: a task has a number of places, so that updates are not old before they are made.
 *
 *     asked --place--> under way --its update--> given --its version--> free
 *        \--later         \--lapses, discarded--> free
 *
 * With full places the mean age of updates is about places / (updates of a version) - 1. A place is flow control, not
 * security: an update without one is accepted too.
 */

/** While this many sums of a task wait to be opened, no places are given. */
export const WAITING_SUMS = 2;

/** The number of places by default, for the updates of one step. */
export function defaultPlaces(updates: number): number {
  return 3 * updates;
}

/**
 * `given`: the last update of the device is in no version yet, or is on the newest one. `backlog`: sums wait to be opened. `few`: in a private task,
 * too few devices could contribute to the version.
 */
export type Admitted = 'place' | 'given' | 'backlog' | 'few' | 'full';

export interface Asked {
  readonly hasGiven: boolean;
  readonly waitingSums: number;
  /** The devices that asked lately and have not given on the newest version, and the number that is needed. */
  readonly fresh: number;
  readonly least: number;
  readonly used: number;
  readonly places: number;
}

export function admit({ hasGiven, waitingSums, fresh, least, used, places }: Asked): Admitted {
  if (hasGiven) return 'given';
  if (waitingSums >= WAITING_SUMS) return 'backlog';
  if (fresh < least) return 'few';
  return used < places ? 'place' : 'full';
}

const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** All waiting devices together ask at most this often. */
const ASKS_PER_MS = 0.05;

/** The time after which a device asks again. `jitter` in [0, 1) spreads devices that were told at the same time. */
export function retryAfterMs(waiting: number, jitter: number): number {
  return Math.round(Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, waiting / ASKS_PER_MS)) * (0.5 + jitter / 2));
}

/** The data that a page, a metric or a command shows. */
export interface AdmissionView {
  readonly places: number;
  /** Places of devices that train, or gave an update that is in no version yet. */
  readonly used: number;
  readonly underWay: number;
  /** Devices that wait for a place. */
  readonly waiting: number;
  readonly waitingBatches: number;
}
