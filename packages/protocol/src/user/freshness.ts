/**
 * Versions of the model never go back on a device. A server or a proxy that replays a signed entry would have it train on a
 * model of its choice among all there ever were, and so weigh or shape one device's update otherwise than the others'.
 */
import type { Suite } from '@basa/masking';
import { equalBytes } from '@basa/masking';
import type { TaskId } from '../wire/brands.ts';
import type { Refused } from '../wire/refusals.ts';
import { isRefused, refused } from '../wire/refusals.ts';
import type { HeadBody, ModelEntry, NewestModel } from '../wire/statements.ts';
import { isSigned, modelEntryCodec, newestModelCodec } from '../wire/statements.ts';
import { declined, unchanged } from '../wire/transition.ts';
import type { Device, DeviceStep } from './device.ts';
import { recorded } from './device.ts';
import type { SeenModel } from './ledger.ts';

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
export function receiveNewest(question: NewestQuestion, device: Device, answer: NewestModel): DeviceStep<ModelEntry> {
  const { suite, authorityKey, task, nonce } = question;
  const { entry, head } = answer;
  const { seen } = device.ledger;
  const isLogged =
    isSigned(suite, newestModelCodec, answer, authorityKey) &&
    isSigned(suite, modelEntryCodec, entry, authorityKey) &&
    equalBytes(entry.task, task);
  if (!isLogged) return declined(device, refused('model-not-logged'));
  if (!equalBytes(answer.nonce, nonce)) return declined(device, stale('the answer to another question'));
  if (question.isPast(head)) return declined(device, stale(`the log was further than record ${head.sequence}`));
  if (entry.version < (seen?.version ?? 0)) {
    return declined(device, stale(`version ${entry.version} after ${seen?.version}`));
  }
  const { state, records, answer: noted } = noteModel(suite, device, entry);
  return isRefused(noted) ? declined(device, noted) : { state, records, answer: entry, events: [] };
}

/** A version that the authority signed, in an entry or a descriptor, is remembered where it is newer than any before. */
export function noteModel(suite: Suite, device: Device, { version, modelHash }: SeenModel): DeviceStep<SeenModel> {
  const { seen } = device.ledger;
  if (seen !== undefined && version < seen.version) return unchanged(device, seen);
  if (seen !== undefined && version === seen.version) {
    return equalBytes(seen.modelHash, modelHash) ? unchanged(device, seen) : declined(device, refused('other-model'));
  }
  const model = { version, modelHash };
  return recorded(suite, device, [{ kind: 'seen', ...model }], model);
}

function stale(detail: string): Refused {
  return refused('model-stale', { detail });
}
