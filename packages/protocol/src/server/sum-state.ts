/**
 * The state of a sum, from its fixed set of updates on.
 *
 *     frozen --grant--> granted --open--> opened --include--> included
 *        \                                   \--quarantine--> quarantined
 *         \--> aborted, or unknown (from granted and opened as well)
 *
 * An opened sum is durable, and waits for the version that it makes, perhaps together with others.
 */
import type { Ctx, TaskId, UserId } from '../wire/brands.ts';
import type { Endorsement } from '../wire/council.ts';
import type { BasaEvent } from '../wire/events.ts';
import { refused } from '../wire/refusals.ts';
import type { SumRules } from '../wire/sum-rules.ts';
import { declined, type Transition, unchanged } from '../wire/transition.ts';

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
export type SumFact =
  /** With the votes for its close: authorities without a part in it are shown them. */
  | { readonly kind: 'granted'; readonly votes: readonly Endorsement[] }
  /** Its mean, or the reason why it is spoilt, is stored separately. */
  | { readonly kind: 'opened' }
  | { readonly kind: 'included'; readonly version: number }
  | { readonly kind: 'quarantined'; readonly why: string; readonly slots: readonly number[] }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'unknown' };

export type SumStep<Sum, Answer> = Transition<Sum, SumFact, Answer>;

/** The sum after one of its facts. */
export function evolveSum<Sum extends SumState>(sum: Sum, entry: SumFact): Sum {
  if (entry.kind === 'granted') return { ...sum, status: 'granted', votes: entry.votes };
  return { ...sum, status: entry.kind, ...(entry.kind === 'included' && { includedIn: entry.version }) };
}

/** Enough authorities voted for this very set of updates. Their releases are requested again after a crash. */
export function recordGrant<Sum extends SumState>(
  sum: Sum,
  { votes }: Pick<SumState, 'votes'>,
): SumStep<Sum, { readonly kind: 'granted' }> {
  if (isLost(sum)) return declined(sum, refused('already-decided'));
  if (sum.status !== 'frozen') return unchanged(sum, { kind: 'granted' });
  return decided(sum, { kind: 'granted', votes }, []);
}

/** From here on the content is durable, and nothing more is requested from authorities. */
export function recordOpened<Sum extends SumState>(sum: Sum): SumStep<Sum, { readonly kind: 'opened' }> {
  if (sum.status === 'opened') return unchanged(sum, { kind: 'opened' });
  if (sum.status !== 'granted') return declined(sum, refused('already-decided'));
  return decided(sum, { kind: 'opened' }, []);
}

/** The sum was applied as this version; written in the same transaction as the sum, so that it counts exactly once. */
export function recordIncluded<Sum extends SumState>(
  sum: Sum,
  version: number,
): SumStep<Sum, { readonly kind: 'included' }> {
  if (sum.status === 'included') return unchanged(sum, { kind: 'included' });
  if (!isGranted(sum)) return declined(sum, refused('already-decided'));
  return {
    ...decided(sum, { kind: 'included', version }, [{ kind: 'buffer-included', ctx: sum.ctx, version }]),
    answer: { kind: 'included' },
  };
}

/** The sum is not a sum of honest updates, and is not applied. `slots` are the positions of the updates that are known to be spoilt. */
export function recordQuarantine<Sum extends SumState>(
  sum: Sum,
  why: string,
  slots: readonly number[],
): SumStep<Sum, { readonly kind: 'quarantined' }> {
  if (sum.status === 'quarantined') return unchanged(sum, { kind: 'quarantined' });
  if (!isGranted(sum)) return declined(sum, refused('already-decided'));
  return {
    ...decided(sum, { kind: 'quarantined', why, slots }, [{ kind: 'buffer-quarantined', ctx: sum.ctx, why, slots }]),
    answer: { kind: 'quarantined' },
  };
}

/** True if enough authorities voted for it, and nothing has been decided since. */
export function isGranted({ status }: Pick<SumState, 'status'>): boolean {
  return status === 'granted' || status === 'opened';
}

/** True if the sum was lost. */
function isLost({ status }: SumState): boolean {
  return status === 'aborted' || status === 'unknown';
}

export function decided<Sum extends SumState, Entry extends SumFact>(
  sum: Sum,
  entry: Entry,
  events: readonly BasaEvent[],
): SumStep<Sum, Entry> {
  return { state: evolveSum(sum, entry), records: [entry], answer: entry, events };
}
