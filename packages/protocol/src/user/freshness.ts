/**
 * Versions of the model never go back on a device. A server or a proxy that replays a signed entry could make it train
 * on any earlier model, and so weight or shape one device's update differently from the others'.
 */
import { equalBytes, type Suite } from '@basa/masking';
import type { TaskId } from '../wire/brands.ts';
import { type Council, isEndorsed, isSignedBySeat } from '../wire/council.ts';
import {
  type HeadBody,
  type ModelEntry,
  modelEntryCodec,
  type NewestModel,
  newestModelCodec,
} from '../wire/model-log.ts';
import { isRefused, type Refused, refused } from '../wire/refusals.ts';
import { declined, unchanged } from '../wire/transition.ts';
import { type Device, type DeviceStep, recorded } from './device.ts';
import type { SeenModel } from './ledger.ts';

/** The device's request, and the pins it trusts. */
export interface NewestQuestion {
  readonly suite: Suite;
  readonly council: Council;
  readonly task: TaskId;
  readonly nonce: Uint8Array;
  /** True if the device had seen a newer head of this authority's log before it asked. */
  isPast(head: HeadBody, authority: number): boolean;
}

/** The newest entry according to one authority. */
export interface NewestOf {
  /** Its index. */
  readonly authority: number;
  readonly answer: NewestModel;
}

/**
 * Returns the newest entry that enough authorities named. Each of their answers must be for this request, and not older than the entries
 * that the device has seen.
 */
export function receiveNewest(
  question: NewestQuestion,
  device: Device,
  answers: readonly NewestOf[],
): DeviceStep<ModelEntry> {
  const { suite, council } = question;
  const { seen } = device.ledger;
  const judged = answers.map((one) => newestProblem(question, one));
  const bad = judged.find((problem) => problem !== undefined);
  const good = answers.filter((_, n) => judged[n] === undefined);
  if (new Set(good.map(({ authority }) => authority)).size < council.threshold)
    return declined(device, bad ?? refused('model-not-logged', { detail: 'too few authorities answered' }));
  const entry = good
    .map(({ answer }) => answer.entry)
    .reduce((newest, other) => (other.version > newest.version ? other : newest));
  if (entry.version < (seen?.version ?? 0)) {
    return declined(device, stale(`version ${entry.version} after ${seen?.version}`));
  }
  const { state, records, answer: noted } = noteModel(suite, device, entry);
  return isRefused(noted) ? declined(device, noted) : { state, records, answer: entry, events: [] };
}

/** Remembers a version that the authority signed, if it is newer than any before. */
export function noteModel(suite: Suite, device: Device, { version, modelHash }: SeenModel): DeviceStep<SeenModel> {
  const { seen } = device.ledger;
  if (seen !== undefined && version < seen.version) return unchanged(device, seen);
  if (seen !== undefined && version === seen.version) {
    return equalBytes(seen.modelHash, modelHash) ? unchanged(device, seen) : declined(device, refused('other-model'));
  }
  const model = { version, modelHash };
  return recorded(suite, device, [{ kind: 'seen', ...model }], model);
}

/** Returns the reason why the answer of one authority does not count; undefined for a good one. */
export function newestProblem(
  { suite, council, task, nonce, isPast }: NewestQuestion,
  { authority, answer }: NewestOf,
): Refused | undefined {
  const { entry, head } = answer;
  const isLogged =
    isSignedBySeat(suite, newestModelCodec, council, authority, answer) &&
    isEndorsed(suite, modelEntryCodec, council, entry) &&
    equalBytes(entry.task, task);
  if (!isLogged) return refused('model-not-logged');
  if (!equalBytes(answer.nonce, nonce)) return stale('the answer to another question');
  return isPast(head, authority) ? stale(`the log was further than record ${head.sequence}`) : undefined;
}

function stale(detail: string): Refused {
  return refused('model-stale', { detail });
}
