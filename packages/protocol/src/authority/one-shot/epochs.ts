/** Epoch keys of the one-shot mode: the times at which one opens and is given up, and the authority's statements to devices. */
import type { Signer } from '@basa/masking';
import { type Millis, millis } from '../../wire/brands.ts';
import { indexOf } from '../../wire/council.ts';
import type { HeadBody } from '../../wire/model-log.ts';
import {
  type AuthorityStanding,
  type BeaconBody,
  beaconCodec,
  type EpochBody,
  epochCodec,
  epochEnd,
} from '../../wire/one-shot/epoch.ts';
import type { OneShotPolicy } from '../../wire/one-shot/policy.ts';
import type { TaskPolicy } from '../../wire/policy.ts';
import { type Refused, refused } from '../../wire/refusals.ts';
import { signStatement } from '../../wire/signed.ts';
import { declined, type Transition, unchanged } from '../../wire/transition.ts';
import type { AuthorityRecord } from '../records.ts';
import type { AuthorityTask } from '../task.ts';
import type { EpochBook, LiveEpoch } from './epoch-book.ts';
import type { EpochKeys } from './epoch-keys.ts';

export type OneShotTaskPolicy = TaskPolicy & { readonly oneShot: OneShotPolicy };

export function isOneShot(policy: TaskPolicy): policy is OneShotTaskPolicy {
  return policy.oneShot !== undefined;
}

/** Half of an epoch is left for devices that train before they upload. */
export function isEpochDue(book: EpochBook, { id, policy }: AuthorityTask, now: Millis): boolean {
  if (!isOneShot(policy)) return false;
  const newest = book.newest(id);
  return newest === undefined || book.at(now) >= newest.epoch.closes - policy.oneShot.epochMs / 2;
}

/** The keys are new. Their secret must be durable no later than the record. */
export function openEpoch(
  signer: Signer,
  book: EpochBook,
  task: AuthorityTask,
  keys: EpochKeys,
  now: Millis,
): Transition<AuthorityTask, AuthorityRecord, { readonly kind: 'opened' | 'not-due' }> {
  const { id, policy } = task;
  if (!isOneShot(policy)) return declined(task, refused('policy-invalid', { detail: 'not of the one-shot mode' }));
  if (!isEpochDue(book, task, now)) return unchanged(task, { kind: 'not-due' });
  const opens = book.at(now);
  const body: EpochBody = {
    task: id,
    authority: indexOf(policy, signer.publicKey) as number,
    // The number also depends on the time, so that after a restore it is higher than the numbers that devices have seen and the log has
    // lost.
    number: Math.max(book.nextNumber(id), Math.floor(opens / 1000)),
    ...keys,
    opens,
    closes: millis(opens + policy.oneShot.epochMs),
  };
  const epoch = signStatement(epochCodec, signer, body);
  return { state: task, records: [{ kind: 'epoch-opened', epoch }], answer: { kind: 'opened' }, events: [] };
}

/** Gives up epochs that are over. */
export function overdueEpochs(
  book: EpochBook,
  policyOf: (epoch: LiveEpoch) => TaskPolicy | undefined,
  now: Millis,
): readonly AuthorityRecord[] {
  const at = book.at(now);
  return book.all.flatMap((live): AuthorityRecord[] => {
    const oneShot = policyOf(live)?.oneShot;
    const isOver = oneShot !== undefined && at >= epochEnd(oneShot, live.epoch);
    return isOver ? [{ kind: 'epoch-ended', statement: live.statement, how: 'given-up', at }] : [];
  });
}

/** No earlier epoch can be trusted once the log was rolled back: its secrets may have been used in a lost life. */
export function deadEpochs(
  book: EpochBook,
  epochs: readonly Pick<LiveEpoch, 'statement'>[],
  now: Millis,
): readonly AuthorityRecord[] {
  const at = book.at(now);
  return epochs.map(({ statement }): AuthorityRecord => ({ kind: 'epoch-ended', statement, how: 'dead', at }));
}

/** The epoch that devices seal to, and the newest model with the time. Nothing is recorded. */
export function standingOf(
  signer: Signer,
  book: EpochBook,
  { id, policy, newest }: AuthorityTask,
  head: HeadBody,
  now: Millis,
): AuthorityStanding | Refused {
  const live = book.newest(id);
  const authority = indexOf(policy, signer.publicKey) as number;
  const at = book.at(now);
  if (newest === undefined || live === undefined || at >= live.epoch.closes)
    return refused('epoch-over', { detail: 'there is no open epoch, or no model yet' });
  const beacon: BeaconBody = { authority, entry: newest, head, at };
  return { authority, epoch: live.epoch, beacon: signStatement(beaconCodec, signer, beacon) };
}
