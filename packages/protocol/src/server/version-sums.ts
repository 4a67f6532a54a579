/** Chooses the opened sums of the next step, and decides whether it is taken now. */
import type { Ctx } from '../wire/brands.ts';
import { MAX_SUMS } from '../wire/limits.ts';
import { LEAST_TRIMMED, ONE_SHOT_DEFAULTS, type OneShotPolicy } from '../wire/one-shot/policy.ts';
import type { TaskPolicy } from '../wire/policy.ts';

export type VersionRule = Pick<OneShotPolicy, 'stepUpdates' | 'combine'>;

/** In all other modes every sum makes a version. */
export function versionRule({ oneShot }: Pick<TaskPolicy, 'oneShot'>): VersionRule {
  return oneShot ?? ONE_SHOT_DEFAULTS;
}

export interface VersionSum {
  readonly ctx: Ctx;
  /** It was opened, and is left out. */
  readonly isSpoilt: boolean;
  readonly updates: number;
}

export interface NextVersion<Sum extends VersionSum> {
  /** If it is empty, the version repeats the parameters of the one before. */
  readonly sums: readonly Sum[];
  readonly spoilt: readonly Sum[];
}

/**
 * Spoilt sums count as well, because their devices can contribute nothing more on the old version. `isLast`: no further
 * sum is expected or the time of the step is over, so that fewer updates make a version; a trimmed mean still waits until there are enough of them. Undefined
 * if the sums have to wait.
 */
export function nextVersion<Sum extends VersionSum>(
  { stepUpdates, combine }: VersionRule,
  opened: readonly Sum[],
  isLast: boolean,
): NextVersion<Sum> | undefined {
  const sums = opened.filter(({ isSpoilt }) => !isSpoilt);
  const updates = opened.reduce((total, sum) => total + sum.updates, 0);
  const isEnough = opened.length > 0 && (isLast || updates >= stepUpdates || opened.length >= MAX_SUMS);
  const isTooFew = combine === 'trimmed' && sums.length > 0 && sums.length < LEAST_TRIMMED;
  if (!isEnough || isTooFew) return undefined;
  const spoilt = opened.filter(({ isSpoilt }) => isSpoilt);
  return { sums: sums.slice(0, MAX_SUMS), spoilt: spoilt.slice(0, MAX_SUMS) };
}
