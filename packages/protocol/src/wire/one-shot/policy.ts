/** The lines of a policy that only the one-shot mode has. */
import { type Council, councilSizeProblem } from '../council.ts';
import { checked, type Field, flag, oneOf, optional, record, u8, u32 } from '../fields.ts';
import { MAX_SUMS } from '../limits.ts';
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
  authorityNoise: false,
  epochMs: 3_600_000,
  voteMs: 900_000,
  freshMs: 300_000,
  sumsPerVersion: 1,
  combine: 'mean',
  sealing: 'x25519',
};

/** Of 8 authorities of which 2 may collude. */
export const MAX_PARTS = 28;

const duration = checked(u32, (value) => (value > 0 ? undefined : 'must be at least a millisecond'));

const sumCount = checked(u8, (value) => (value >= 1 && value <= MAX_SUMS ? undefined : `not from 1 to ${MAX_SUMS}`));

export const oneShotField: Field<OneShotPolicy | undefined> = optional(
  record<OneShotPolicy>({
    tolerated: u8,
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
export function vouchersOf({ tolerated }: OneShotPolicy): number {
  return tolerated + 1;
}

/** Returns a sentence that says why these lines cannot be used with these authorities, or undefined. */
export function oneShotProblem(council: Council, oneShot: OneShotPolicy): string | undefined {
  const { tolerated, sumsPerVersion, combine } = oneShot;
  if (combine === 'trimmed' && sumsPerVersion < LEAST_TRIMMED)
    return `sumsPerVersion must be at least ${LEAST_TRIMMED} with a trimmed mean, got ${sumsPerVersion}`;
  return councilSizeProblem(council, tolerated);
}
