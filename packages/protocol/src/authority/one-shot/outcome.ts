/** The status of one upload, stated by one authority. No answer is ever about more than one upload. */
import { equalBytes, type Suite } from '@basa/masking';
import type { Millis } from '../../wire/brands.ts';
import { batchCtxOf, usedNameOf } from '../../wire/one-shot/batch.ts';
import {
  type ShotOutcome,
  type ShotOutcomeBody,
  type ShotStatus,
  shotOutcomeCodec,
} from '../../wire/one-shot/messages.ts';
import { signStatement } from '../../wire/signed.ts';
import type { Transition } from '../../wire/transition.ts';
import { expiredName } from '../past-log.ts';
import type { AuthorityPorts } from '../ports.ts';
import type { AuthorityRecord } from '../records.ts';
import type { AuthorityState } from '../state.ts';
import type { AuthorityTask } from '../task.ts';
import { batchOf } from './batches.ts';

/** One upload, with the epoch of this authority that it names. */
export type OutcomeQuestion = Omit<ShotOutcomeBody, 'status' | 'task'>;

/**
 * The number of expired uploads of a device and an epoch that are recorded; the device learns about more once the epoch
 * is given up.
 */
const MOST_EXPIRED = 16;

/**
 * An upload is expired if its vote window is over and this authority neither voted for it nor knows it as final. The authority records this
 * before it answers, and afterwards never votes for an upload with this tag that names this epoch. If an epoch is given up, no record is
 * needed, because no authority votes for its uploads. The authority makes no statement about an epoch that is dead or not in its log. Once a
 * rollback shows, nothing that it recorded before counts as expired any more: it may have voted for it in the lost life of its log.
 */
export function tellOutcome(
  { suite, signer }: AuthorityPorts,
  state: AuthorityState,
  { id, policy }: AuthorityTask,
  { user, joinTag, statement }: OutcomeQuestion,
  now: Millis,
): Transition<undefined, AuthorityRecord, ShotOutcome> {
  const at = state.epochs.at(now);
  const known = statusIn(suite, state, usedNameOf(suite, id, { user, joinTag }), statement);
  const epoch = state.epochs.live(statement);
  const isAsked = known === undefined && state.device(user) !== undefined;
  const isOver = epoch !== undefined && at >= epoch.closes + (policy.oneShot?.voteMs ?? 0);
  const expires = isAsked && isOver && state.past.named(expiredName(statement, user)).length < MOST_EXPIRED;
  const isGone = isAsked && epoch === undefined && isGivenUp(state, statement);
  const status: ShotStatus = known ?? (expires || isGone ? 'expired' : epoch === undefined ? 'unknown' : 'pending');
  const body: ShotOutcomeBody = { task: id, user, joinTag, statement, status };
  const record: AuthorityRecord = { kind: 'upload-expired', task: id, user, joinTag, statement, at };
  return {
    state: undefined,
    records: expires ? [record] : [],
    answer: signStatement(shotOutcomeCodec, signer, body),
    events: [],
  };
}

/** It ended in its time, in this life of the log: every vote for one of its uploads is known here. */
function isGivenUp(state: AuthorityState, statement: Uint8Array): boolean {
  return state.ofBranch(statement).some((entry) => entry.kind === 'epoch-ended' && entry.how === 'given-up');
}

function statusIn(
  suite: Suite,
  state: AuthorityState,
  name: Uint8Array,
  statement: Uint8Array,
): ShotStatus | undefined {
  // It may have voted for one batch, and been shown enough votes for another.
  const lists = state.past.named(name).flatMap((entry) => batchOf([entry])?.list ?? []);
  if (lists.some(({ batch }) => state.batch(batchCtxOf(suite, batch))?.isFinal)) return 'included';
  if (lists.length > 0) return 'pending';
  const isExpired = state
    .ofBranch(name)
    .some((one) => one.kind === 'upload-expired' && equalBytes(one.statement, statement));
  return isExpired ? 'expired' : undefined;
}
