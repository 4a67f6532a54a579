/** Chooses the opened sums that make the next version of the model, and decides whether they do so now. */
import type { Ctx } from '../wire/brands.ts';
import { MAX_SUMS } from '../wire/limits.ts';
import { LEAST_TRIMMED, ONE_SHOT_DEFAULTS, type OneShotPolicy } from '../wire/one-shot/policy.ts';
import type { TaskPolicy } from '../wire/policy.ts';

export type VersionRule = Pick<OneShotPolicy, 'sumsPerVersion' | 'combine'>;

/** In all other modes every sum makes a version. */
export function versionRule({ oneShot }: Pick<TaskPolicy, 'oneShot'>): VersionRule {
  return oneShot ?? ONE_SHOT_DEFAULTS;
}

export interface VersionSum {
  readonly ctx: Ctx;
  /** It was opened, and is left out. */
  readonly isSpoilt: boolean;
}

export interface NextVersion<Sum extends VersionSum> {
  /** If it is empty, the version repeats the parameters of the one before. */
  readonly sums: readonly Sum[];
  readonly spoilt: readonly Sum[];
}

/**
 * Spoilt sums count as well, because their devices can contribute nothing more on the old version. `isLast`: no further
 * sum is expected, so that fewer make a version; a trimmed mean still waits until there are enough of them. Undefined
 * if the sums have to wait.
 */
export function nextVersion<Sum extends VersionSum>(
  { sumsPerVersion, combine }: VersionRule,
  opened: readonly Sum[],
  isLast: boolean,
): NextVersion<Sum> | undefined {
  const sums = opened.filter(({ isSpoilt }) => !isSpoilt);
  const isEnough = opened.length > 0 && (isLast || opened.length >= sumsPerVersion);
  const isTooFew = combine === 'trimmed' && sums.length > 0 && sums.length < LEAST_TRIMMED;
  if (!isEnough || isTooFew) return undefined;
  const spoilt = opened.filter(({ isSpoilt }) => isSpoilt);
  return { sums: sums.slice(0, MAX_SUMS), spoilt: spoilt.slice(0, MAX_SUMS) };
}
