/** What became of one upload, by the word of one authority. Nobody is ever told about more than one. */
import type { Suite } from '@basa/masking';
import type { Millis } from '../../wire/brands.ts';
import { batchCtxOf, usedNameOf } from '../../wire/one-shot/batch.ts';
import {
  type ShotOutcome,
  type ShotOutcomeBody,
  type ShotStatus,
  shotOutcomeCodec,
} from '../../wire/one-shot/messages.ts';
import type { Transition } from '../../wire/transition.ts';
import type { AuthorityPorts } from '../buffer.ts';
import type { AuthorityRecord } from '../records.ts';
import type { AuthorityState } from '../state.ts';
import type { AuthorityTask } from '../task.ts';
import { batchOf } from './batches.ts';

/** One upload, with the epoch of this authority that it names. */
export type OutcomeQuestion = Omit<ShotOutcomeBody, 'status' | 'task'>;

/**
 * Expired: its vote window is over and this authority neither voted for it nor knows it as final. It records that before it says so, and
 * never votes for the upload afterwards. Of an epoch that is dead or not in the log it knows nothing.
 */
export function tellOutcome(
  { suite, signer }: AuthorityPorts,
  state: AuthorityState,
  { id, policy }: AuthorityTask,
  { user, joinTag, statement }: OutcomeQuestion,
  now: Millis,
): Transition<undefined, AuthorityRecord, ShotOutcome> {
  const at = state.epochs.at(now);
  const records = state.past.named(usedNameOf(suite, id, { user, joinTag }));
  const known = statusIn(suite, state, records);
  const epoch = state.epochs.live(statement);
  const isOver = epoch === undefined ? isGivenUp(state, statement) : at >= epoch.closes + (policy.oneShot?.voteMs ?? 0);
  const expires = known === undefined && isOver && state.device(user) !== undefined;
  const status: ShotStatus = known ?? (expires ? 'expired' : epoch === undefined ? 'unknown' : 'pending');
  const body: ShotOutcomeBody = { task: id, user, joinTag, statement, status };
  const record: AuthorityRecord = { kind: 'upload-expired', task: id, user, joinTag, statement, at };
  return {
    state: undefined,
    records: expires ? [record] : [],
    answer: { ...body, signature: signer.sign(shotOutcomeCodec.statement(body)) },
    events: [],
  };
}

/** It ended in its time, in this life of the log: every vote for one of its uploads is known here. */
function isGivenUp(state: AuthorityState, statement: Uint8Array): boolean {
  return state.past.named(statement).some((entry) => entry.kind === 'epoch-ended' && entry.how === 'given-up');
}

function statusIn(suite: Suite, state: AuthorityState, records: readonly AuthorityRecord[]): ShotStatus | undefined {
  // It may have voted for one batch, and been shown enough votes for another.
  const lists = records.flatMap((entry) => batchOf([entry])?.list ?? []);
  if (lists.some(({ batch }) => state.batch(batchCtxOf(suite, batch))?.isFinal)) return 'included';
  if (lists.length > 0) return 'pending';
  return records.some(({ kind }) => kind === 'upload-expired') ? 'expired' : undefined;
}
