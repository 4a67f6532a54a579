/** The lines of a policy that only the one-shot mode has. */
import type { Council } from '../council.ts';
import { checked, type Field, flag, oneOf, optional, record, u8, u32 } from '../fields.ts';
import { MAX_SUMS } from '../limits.ts';
import { partsOf } from './parts.ts';
import { SEALINGS, type Sealing } from './sealings.ts';

/**
 * The combination of the means of the batches that make one version: `mean` weights them by examples and age; `trimmed`
 * leaves out the smallest and largest values of each coordinate, so that a few batches that liars spoilt unnoticed
 * cannot pull the model away.
 */
const COMBINATIONS = ['mean', 'trimmed'] as const;
export type Combination = (typeof COMBINATIONS)[number];

/** With fewer batches a trimmed mean would leave out most of their values. */
export const LEAST_TRIMMED = 5;

export interface OneShotPolicy {
  /** f: the number of authorities that may collude with the server without learning a single update. */
  readonly tolerated: number;
  /** Accepts sums of masks that only one authority vouches for: it can then shift the model without being noticed. */
  readonly uncheckedSums: boolean;
  /** In a private task with one authority: it adds the noise to the sum of the masks, and the devices add none. */
  readonly authorityNoise: boolean;
  /** The time for which uploads may name an epoch key. */
  readonly epochMs: number;
  /** The time after that in which a batch may still be voted for. */
  readonly voteMs: number;
  /** The largest age of an authority's signed time that a device accepts. */
  readonly freshMs: number;
  /** H: the number of batches that make one version, unless no more of them come. */
  readonly sumsPerVersion: number;
  readonly combine: Combination;
  /** The scheme with which devices seal the seeds of their masks to the authorities. */
  readonly sealing: Sealing;
}

export const ONE_SHOT_DEFAULTS: OneShotPolicy = {
  tolerated: 0,
  uncheckedSums: false,
  authorityNoise: false,
  epochMs: 3_600_000,
  voteMs: 900_000,
  freshMs: 300_000,
  sumsPerVersion: 1,
  combine: 'mean',
  sealing: 'x25519',
};

/** Limits the work of a device that seals and of every authority that expands. */
export const MAX_PARTS = 35;

const duration = checked(u32, (value) => (value > 0 ? undefined : 'must be at least a millisecond'));

const sumCount = checked(u8, (value) => (value >= 1 && value <= MAX_SUMS ? undefined : `not from 1 to ${MAX_SUMS}`));

export const oneShotField: Field<OneShotPolicy | undefined> = optional(
  record<OneShotPolicy>({
    tolerated: u8,
    uncheckedSums: flag,
    authorityNoise: flag,
    epochMs: duration,
    voteMs: duration,
    freshMs: duration,
    sumsPerVersion: sumCount,
    combine: oneOf(COMBINATIONS),
    sealing: oneOf(SEALINGS),
  }),
);

/** The number of holders of a part that must sign the same sum of masks. */
export function vouchersOf({ tolerated, uncheckedSums }: OneShotPolicy): number {
  return uncheckedSums ? 1 : tolerated + 1;
}

/** Returns a sentence that says why these authorities cannot serve the mode, or undefined. */
export function oneShotProblem(
  { authorities, threshold }: Council,
  oneShot: OneShotPolicy,
  unsafeThreshold: boolean,
): string | undefined {
  const { tolerated, uncheckedSums, sumsPerVersion, combine } = oneShot;
  if (combine === 'trimmed' && sumsPerVersion < LEAST_TRIMMED)
    return `sumsPerVersion must be at least ${LEAST_TRIMMED} with a trimmed mean, got ${sumsPerVersion}`;
  const count = authorities.length;
  if (count === 1) return tolerated === 0 ? undefined : 'one authority tolerates no collusion: tolerated must be 0';
  if (2 * threshold <= count + tolerated)
    return `a threshold of ${threshold} of ${count} authorities does not tolerate ${tolerated} that collude; the threshold must exceed ${(count + tolerated) / 2}`;
  if (tolerated < 1 && !unsafeThreshold)
    return 'tolerated must be at least 1 with several authorities: otherwise any one of them could unmask every update together with the server';
  if (count - tolerated < tolerated + 1 && !uncheckedSums)
    return `with ${count} authorities and tolerated ${tolerated}, fewer than ${tolerated + 1} hold each part, so nobody could check a sum of masks (uncheckedSums allows that)`;
  const parts = partsOf(count, tolerated).length;
  return parts > MAX_PARTS
    ? `${parts} parts exceed ${MAX_PARTS}: use fewer authorities or a smaller tolerated`
    : undefined;
}
