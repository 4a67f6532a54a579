/**
 * Versions of the model never go back on a device. A server or a proxy that replays a signed entry would have it train on a
 * model of its choice among all there ever were, and so weigh or shape one device's update otherwise than the others'.
 */
import type { Suite } from '@basa/masking';
import { equalBytes } from '@basa/masking';
import type { TaskId } from '../wire/brands.ts';
import type { Refused } from '../wire/refusals.ts';
import { refused } from '../wire/refusals.ts';
import type { HeadBody, ModelEntry, NewestModel } from '../wire/statements.ts';
import { isSigned, modelEntryCodec, newestModelCodec } from '../wire/statements.ts';
import type { Transition } from '../wire/transition.ts';
import { declined, unchanged } from '../wire/transition.ts';
import type { DeviceLedger, LedgerRecord, SeenModel } from './ledger.ts';
import { evolveLedger } from './ledger.ts';

/** What the device asked with, and what it believes. */
export interface NewestQuestion {
  readonly suite: Suite;
  readonly authorityKey: Uint8Array;
  readonly task: TaskId;
  readonly nonce: Uint8Array;
  /** Whether the device had seen a newer head of the log before it asked. */
  isPast(head: HeadBody): boolean;
}

/** The newest entry, where the answer is one to this very question and goes back behind nothing. */
export function receiveNewest(
  question: NewestQuestion,
  ledger: DeviceLedger,
  answer: NewestModel,
): Transition<DeviceLedger, LedgerRecord, ModelEntry> {
  const { suite, authorityKey, task, nonce } = question;
  const { entry, head } = answer;
  const isLogged =
    isSigned(suite, newestModelCodec, answer, authorityKey) &&
    isSigned(suite, modelEntryCodec, entry, authorityKey) &&
    equalBytes(entry.task, task);
  if (!isLogged) return declined(ledger, refused('model-not-logged'));
  if (!equalBytes(answer.nonce, nonce)) return declined(ledger, stale('the answer to another question'));
  if (question.isPast(head)) return declined(ledger, stale(`the log was further than record ${head.sequence}`));
  if (entry.version < (ledger.seen?.version ?? 0)) {
    return declined(ledger, stale(`version ${entry.version} after ${ledger.seen?.version}`));
  }
  const { state, records, answer: noted } = noteModel(ledger, entry);
  return 'kind' in noted ? declined(ledger, noted) : { state, records, answer: entry, events: [] };
}

/** A version that the authority signed, in an entry or a descriptor, is remembered where it is newer than any before. */
export function noteModel(
  ledger: DeviceLedger,
  { version, modelHash }: SeenModel,
): Transition<DeviceLedger, LedgerRecord, SeenModel> {
  const { seen } = ledger;
  if (seen !== undefined && version < seen.version) return unchanged(ledger, seen);
  if (seen !== undefined && version === seen.version) {
    return equalBytes(seen.modelHash, modelHash) ? unchanged(ledger, seen) : declined(ledger, refused('other-model'));
  }
  const model = { version, modelHash };
  const entry: LedgerRecord = { kind: 'seen', ...model };
  return { state: evolveLedger(ledger, entry), records: [entry], answer: model, events: [] };
}

function stale(detail: string): Refused {
  return refused('model-stale', { detail });
}
