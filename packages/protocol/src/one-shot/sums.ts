/**
 * The state of a sum, from its fixed set of updates on.
 *
 *     frozen --grant--> granted --open--> opened --include--> included
 *        \                                   \--quarantine--> quarantined
 *         \--> aborted, or unknown (from granted and opened as well)
 *
 * An opened sum is durable, and waits for the version that it makes, perhaps together with others.
 */

import { firstOutOfRange, toSigned, type VectorKernel } from '@basa/masking';
import type { Endorsement } from '../wire/council.ts';
import { type Ctx, MAX_SUMS, type TaskId, type UserId } from '../wire/fields.ts';
import { judgeBehind, judgePrefix, type PrefixVerdict, type SumRules, sumRules, updateWords } from '../wire/input.ts';
import { LEAST_TRIMMED, ONE_SHOT_DEFAULTS, type OneShotPolicy } from '../wire/one-shot-policy.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { sumBound } from '../wire/privacy.ts';
import { type BasaEvent, declined, refused, type Transition, unchanged } from '../wire/refusals.ts';
import { statisticsFault } from '../wire/statistics-results.ts';
import type { Batch } from '../wire/upload.ts';

export interface SumState {
  readonly ctx: Ctx;
  readonly task: TaskId;
  readonly rules: SumRules;
  readonly status: 'frozen' | 'granted' | 'opened' | 'included' | 'quarantined' | 'aborted' | 'unknown';
  /** The users whose updates are in it. */
  readonly users: readonly UserId[];
  /** Once granted. */
  readonly votes: readonly Endorsement[];
  /** Once included: the version. */
  readonly includedIn?: number;
}

/** The facts that decide about a frozen sum. */
type SumFact =
  /** With the votes for its close: authorities without a part in it are shown them. */
  | { readonly kind: 'granted'; readonly votes: readonly Endorsement[] }
  /** Its mean, or the reason why it is spoilt, is stored separately. */
  | { readonly kind: 'opened' }
  | { readonly kind: 'included'; readonly version: number }
  | { readonly kind: 'quarantined' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'unknown' };

export type SumStep<Sum, Answer> = Transition<Sum, SumFact, Answer>;

/** The statuses that each fact may follow. */
const FOLLOWS: Readonly<Record<SumFact['kind'], readonly SumState['status'][]>> = {
  granted: ['frozen'],
  opened: ['granted'],
  included: ['granted', 'opened'],
  quarantined: ['granted', 'opened'],
  aborted: ['frozen'],
  unknown: ['frozen', 'granted', 'opened'],
};

/** The statuses in which it is recorded already: a repeat changes nothing. */
const REPEATS: typeof FOLLOWS = {
  granted: ['granted', 'opened', 'included', 'quarantined'],
  opened: ['opened'],
  included: ['included'],
  quarantined: ['quarantined'],
  aborted: ['aborted', 'unknown'],
  unknown: ['aborted', 'unknown'],
};

function record<Sum extends SumState, Fact extends SumFact>(
  sum: Sum,
  fact: Fact,
  event?: BasaEvent,
): SumStep<Sum, { readonly kind: Fact['kind'] }> {
  if (REPEATS[fact.kind].includes(sum.status)) return unchanged(sum, { kind: fact.kind });
  if (!FOLLOWS[fact.kind].includes(sum.status)) return declined(sum, refused('already-decided'));
  const state = {
    ...sum,
    status: fact.kind,
    votes: fact.kind === 'granted' ? fact.votes : sum.votes,
    ...(fact.kind === 'included' && { includedIn: fact.version }),
  };
  return { state, records: [fact], answer: { kind: fact.kind }, events: event === undefined ? [] : [event] };
}

/** Enough authorities voted for this very set of updates. Their releases are requested again after a crash. */
export function recordGrant<Sum extends SumState>(sum: Sum, { votes }: Pick<SumState, 'votes'>) {
  return record(sum, { kind: 'granted', votes });
}

/** From here on the content is durable, and nothing more is requested from authorities. */
export function recordOpened<Sum extends SumState>(sum: Sum) {
  return record(sum, { kind: 'opened' });
}

/** The sum was applied as this version; written in the same transaction as the sum, so that it counts exactly once. */
export function recordIncluded<Sum extends SumState>(sum: Sum, version: number) {
  return record(sum, { kind: 'included', version }, { kind: 'batch-included', ctx: sum.ctx, version });
}

/** The sum is not a sum of honest updates, and is not applied. `uploads` are the positions of the updates that are known to be spoilt. */
export function recordQuarantine<Sum extends SumState>(sum: Sum, why: string, uploads: readonly number[]) {
  return record(sum, { kind: 'quarantined' }, { kind: 'batch-quarantined', ctx: sum.ctx, why, uploads });
}

/** True if enough authorities voted for it, and nothing has been decided since. */
export function isGranted({ status }: Pick<SumState, 'status'>): boolean {
  return status === 'granted' || status === 'opened';
}

/** The durable part of a batch before any authority is asked about it. */
interface StoredBatch {
  /** Its name. It cannot be computed later, because a batch that is dissolved loses its uploads. */
  readonly ctx: Ctx;
  readonly batch: Batch;
  /** The version that its uploads were trained on; their mean if they mix versions. */
  readonly version: number;
  /** In the order of its uploads. */
  readonly users: readonly UserId[];
}

/** A batch of whole uploads at the server. */
export interface ShotBatch extends SumState {
  readonly batch: Batch;
}

export function openShotBatch(policy: TaskPolicy, { ctx, batch, version, users }: StoredBatch): ShotBatch {
  const rules = sumRules(policy, version);
  return { ctx, task: batch.task, rules, status: 'frozen', users, votes: [], batch };
}

/** `aborted`: no authority voted for it, so its uploads may go into another one. `unknown`: it can never be released any more. */
export function loseBatch(batch: ShotBatch, how: 'aborted' | 'unknown') {
  return record(batch, { kind: how }, { kind: `batch-${how}`, ctx: batch.ctx });
}

type Quarantine = Extract<PrefixVerdict, { kind: 'quarantine' }>;

export type SumVerdict = (Extract<PrefixVerdict, { kind: 'good' }> & { readonly sum: Uint32Array }) | Quarantine;

/** An opened sum is applied only if it can be a sum of honest inputs: the words around the coordinates must be correct, and every coordinate in range. */
export function judgeSum(rules: SumRules, total: Uint32Array, accepted: number): SumVerdict {
  const prefix = judgePrefix(rules, total, accepted);
  if (prefix.kind === 'quarantine') return prefix;
  const { update: sum, behind } = updateWords(rules, total);
  const spoilt = judgeBehind(behind);
  if (spoilt !== undefined) return spoilt;
  return judgeCoordinates(rules, sum, { accepted, weightSum: prefix.weightSum }) ?? { ...prefix, sum };
}

/** The number of updates in a sum, and its divisor. */
export interface SummedUpdates {
  readonly accepted: number;
  readonly weightSum: number;
}

/** Coordinates from number `first` on; undefined if all of them are in range. The words of statistics are judged together. */
export function judgeCoordinates(
  rules: SumRules,
  coordinates: Uint32Array,
  updates: SummedUpdates,
  first = 0,
  kernel?: VectorKernel,
): Quarantine | undefined {
  const { modulus, statistics } = rules;
  if (statistics !== undefined) {
    const sums = Array.from(coordinates, (word) => toSigned(word, modulus));
    const why = statisticsFault({ ...rules, statistics }, sums, updates.accepted);
    return why === undefined ? undefined : { kind: 'quarantine', why };
  }
  const offender = firstOutOfRange(coordinates, modulus, coordinateBound(rules, updates), kernel);
  return offender < 0 ? undefined : { kind: 'quarantine', why: `coordinate ${first + offender} is out of range` };
}

/**
 * An honest update is clipped, then weighted, then rounded: |x| <= c clip w/W + 1, and so for a sum. This keeps the
 * mean of the sum within the clip, even if a liar makes the sum of weights small: otherwise that would multiply the
 * step by up to W. With noise this bound is weak; there the smallest weight of a device is bounded instead.
 */
function coordinateBound(rules: SumRules, { accepted, weightSum }: SummedUpdates): number {
  const { level, clip, weightScale, privacy } = rules;
  const plain = sumBound(rules, accepted);
  if (privacy !== undefined) return plain;
  return Math.min(plain, Math.ceil((level * clip * weightSum) / weightScale) + accepted);
}

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
 * Chooses the opened sums of the next step, and decides whether it is taken now. Spoilt sums count as well, because their devices can contribute nothing more on the old version. `isLast`: no further
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
