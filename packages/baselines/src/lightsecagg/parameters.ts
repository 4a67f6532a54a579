/** N, U and T of LightSecAgg (So et al. 2022), and the length of a piece of a mask. */
import type { Phase } from '../aggregation.ts';

export interface CodeParameters {
  /** N: the number of users; each of them gets a share of every mask. */
  readonly users: number;
  /** U: the number of answers that open a sum of masks. */
  readonly survivors: number;
  /** T: the number of colluding users that together learn nothing about a mask. */
  readonly privacy: number;
}

export interface LightSecAggParameters extends CodeParameters {
  /** 32 bytes that are unique to the training run, and unique to the round if keys are fresh in each round. */
  readonly session: Uint8Array;
  readonly dimension: number;
  /** The fewest masks a user lets the server open together: U in rounds, K with a buffer. */
  readonly fewest: number;
}

/** LSA-A, the published setting: U = floor(0.7 N), T = floor(N / 2). Three in ten may drop. */
export function publishedCode(users: number): CodeParameters {
  const privacy = Math.floor(users / 2);
  return { users, survivors: Math.max(privacy + 1, Math.floor((7 * users) / 10)), privacy };
}

/** LSA-B, the setting of FedML: U = N, T = floor(N / 2). No user may drop, and pieces are shorter. */
export function fedmlCode(users: number): CodeParameters {
  return { users, survivors: users, privacy: Math.floor(users / 2) };
}

/** N >= U > T >= 0. */
export function checkCode({ users, survivors, privacy }: CodeParameters): void {
  const all = [users, survivors, privacy].every(Number.isSafeInteger);
  if (!(all && users >= survivors && survivors > privacy && privacy >= 0)) {
    throw new RangeError(`N >= U > T >= 0 does not hold for N = ${users}, U = ${survivors}, T = ${privacy}`);
  }
}

/** L = d / (U - T), with d padded up to a multiple. */
export function pieceLength({
  dimension,
  survivors,
  privacy,
}: Pick<LightSecAggParameters, 'dimension' | 'survivors' | 'privacy'>): number {
  return Math.ceil(dimension / (survivors - privacy));
}

// The behaviour of users while asynchronous LightSecAgg waits for U answers. The literature does not specify it, so it is a choice.

export interface SynchronisationReading {
  /** True if the server waits for users that answer only when their own training ends. */
  readonly waits: boolean;
  /** The fate of an update that arrives during the wait: lost, counted in the next buffer, or held until a buffer has room. */
  readonly arrival: 'lost' | 'counted' | 'held';
  /** The time at which its user starts its next trip. */
  readonly restart: 'at-once' | 'after-the-wait' | 'when-accepted';
}

/** From the slowest to the fastest. `sequential` fits the paper's table best; quote the range, not one of them. */
export const SYNCHRONISATION_READINGS = {
  sequential: { waits: true, arrival: 'lost', restart: 'at-once' },
  barrier: { waits: true, arrival: 'counted', restart: 'after-the-wait' },
  block: { waits: true, arrival: 'held', restart: 'when-accepted' },
  background: { waits: false, arrival: 'counted', restart: 'at-once' },
} as const satisfies Readonly<Record<string, SynchronisationReading>>;

export interface LightSecAggChoice {
  readonly code: CodeParameters;
  /** The smallest and the largest number of updates in a sum. */
  readonly fewest: number;
  readonly most: number;
  readonly staleness: (user: number) => number;
  /** 1 if it is not given. */
  readonly weightOf?: (staleness: number) => number;
}

export const LIGHTSECAGG_PHASES: readonly Phase[] = [
  { name: 'keys', user: 'agrees with each other user, once for a training run', server: 'tells everybody the keys' },
  { name: 'offline', user: 'draws and encodes a mask; seals and opens shares', server: 'routes the sealed shares' },
  { name: 'upload', user: 'adds its mask', server: 'adds y, times its weight' },
  { name: 'recovery', user: 'adds up the shares it holds', server: 'interpolates the sum of masks and subtracts it' },
];
