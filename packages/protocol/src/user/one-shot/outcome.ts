/** Decides whether an update that was given in one shot is free again: only enough authorities can state that. */
import { equalBytes, type Suite } from '@basa/masking';
import type { TaskId, UserId } from '../../wire/brands.ts';
import { type Council, isSignedBySeat } from '../../wire/council.ts';
import { type ShotOutcome, type ShotStatus, shotOutcomeCodec } from '../../wire/one-shot/messages.ts';
import type { DeltaCommitment } from '../ledger.ts';

export interface ShotOutcomeOf {
  readonly authority: number;
  readonly outcome: ShotOutcome;
}

export interface ShotQuestion {
  readonly suite: Suite;
  readonly council: Council;
  readonly task: TaskId;
  readonly user: UserId;
}

/** True if the authority signed this, about this upload and its own epoch that the upload names. */
function isShotOutcomeOf(
  { suite, council, task, user }: ShotQuestion,
  { joinTag, epochs }: Pick<DeltaCommitment, 'joinTag' | 'epochs'>,
  { authority, outcome }: ShotOutcomeOf,
): boolean {
  const named = epochs.find((one) => one.authority === authority);
  return (
    named !== undefined &&
    equalBytes(outcome.task, task) &&
    equalBytes(outcome.user, user) &&
    equalBytes(outcome.joinTag, joinTag) &&
    equalBytes(outcome.statement, named.statement) &&
    isSignedBySeat(suite, shotOutcomeCodec, council, authority, outcome)
  );
}

/** The statement that enough authorities make identically; undefined if they do not. Only `expired` frees the update. */
export function agreedShotOutcome(
  question: ShotQuestion,
  commitment: Pick<DeltaCommitment, 'joinTag' | 'epochs'>,
  answers: readonly ShotOutcomeOf[],
): ShotStatus | undefined {
  const by = new Map<ShotStatus, Set<number>>();
  for (const answer of answers) {
    if (!isShotOutcomeOf(question, commitment, answer)) continue;
    const { status } = answer.outcome;
    const alike = by.get(status) ?? new Set<number>();
    by.set(status, alike.add(answer.authority));
    if (alike.size >= question.council.threshold) return status;
  }
  return undefined;
}
