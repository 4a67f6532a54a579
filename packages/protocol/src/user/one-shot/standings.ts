/**
 * The device's checks of statements from the server: the epoch keys for sealing, and the newest model. The server chooses which statements
 * it shows. Therefore each must be signed, fresh by the device's own clock, and not older than a statement that the device has seen before.
 */
import { equalBytes, type Suite } from '@basa/masking';
import type { Millis, TaskId } from '../../wire/brands.ts';
import { isEndorsed, isSignedBySeat } from '../../wire/council.ts';
import { type HeadBody, type ModelEntry, modelEntryCodec } from '../../wire/model-log.ts';
import { type AuthorityStanding, beaconCodec, type Epoch, isEpochOf } from '../../wire/one-shot/epoch.ts';
import type { OneShotPolicy } from '../../wire/one-shot/policy.ts';
import type { TaskPolicy } from '../../wire/policy.ts';
import { isRefused, type Refused, refused } from '../../wire/refusals.ts';
import { declined } from '../../wire/transition.ts';
import { type Device, type DeviceRecord, type DeviceStep, restoreDevice } from '../device.ts';
import { noteModel } from '../freshness.ts';

export interface StandingsQuestion {
  readonly suite: Suite;
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  /** By the device's own clock. */
  readonly now: Millis;
  /** True if the device has seen a newer head of this authority's log. */
  isPast(head: HeadBody, authority: number): boolean;
}

/** The authorities that an upload will name, and the model to train on. */
export interface Gathered {
  readonly kind: 'gathered';
  readonly epochs: readonly Epoch[];
  readonly entry: ModelEntry;
}

export function receiveStandings(
  question: StandingsQuestion,
  device: Device,
  standings: readonly AuthorityStanding[],
): DeviceStep<Gathered> {
  const { suite, policy } = question;
  const { oneShot } = policy;
  if (oneShot === undefined)
    return declined(device, refused('policy-invalid', { detail: 'the task is not of the one-shot mode' }));
  const problems = standings.map((standing) => standingProblem(question, oneShot, device, standing));
  const good = standings.filter((_, n) => problems[n] === undefined);
  if (!isEnough(policy, good)) {
    const [problem] = problems.filter((one) => one !== undefined);
    return declined(device, problem ?? refused('standings-stale', { detail: `${good.length} authorities are heard` }));
  }
  const entry = good
    .map(({ beacon }) => beacon.entry)
    .reduce((newest, other) => (other.version > newest.version ? other : newest));
  const seen = device.ledger.seen?.version ?? 0;
  if (entry.version < seen)
    return declined(device, refused('model-stale', { detail: `version ${entry.version} after ${seen}` }));
  const { records: noted, answer } = noteModel(suite, device, entry);
  if (isRefused(answer)) return declined(device, answer);
  const epochs = good.map(({ epoch }) => epoch);
  const newer = epochs.filter(({ authority, number }) => number > (device.ledger.epochs.get(authority) ?? -1));
  const records: DeviceRecord[] = [
    ...noted,
    ...newer.map(({ authority, number }) => ({ kind: 'epoch' as const, authority, number })),
  ];
  const state = restoreDevice(suite, records, device);
  return { state, records, answer: { kind: 'gathered', epochs, entry }, events: [] };
}

function isEnough({ threshold }: TaskPolicy, good: readonly AuthorityStanding[]): boolean {
  const isRising = good.every(({ authority }, n) => authority > (good[n - 1]?.authority ?? -1));
  return isRising && good.length >= threshold;
}

function standingProblem(
  { suite, policy, task, now, isPast }: StandingsQuestion,
  { freshMs }: OneShotPolicy,
  { ledger }: Device,
  { authority, epoch, beacon }: AuthorityStanding,
): Refused | undefined {
  const isSame = epoch.authority === authority && beacon.authority === authority && equalBytes(epoch.task, task);
  if (!isSame || !isEpochOf(suite, policy, epoch)) return refused('epoch-invalid');
  const { entry, head, at } = beacon;
  const isLogged =
    isSignedBySeat(suite, beaconCodec, policy, authority, beacon) &&
    equalBytes(entry.task, task) &&
    isEndorsed(suite, modelEntryCodec, policy, entry);
  if (!isLogged) return refused('model-not-logged');
  if (isPast(head, authority)) return refused('model-stale', { detail: `the log was further than ${head.sequence}` });
  if (epoch.number < (ledger.epochs.get(authority) ?? 0))
    return refused('standings-stale', { detail: `epoch ${epoch.number} of authority ${authority} is an old one` });
  return timeProblem(now, freshMs, at, epoch);
}

function timeProblem(now: Millis, freshMs: number, at: Millis, { opens, closes }: Epoch): Refused | undefined {
  if (Math.abs(now - at) > freshMs) {
    const seconds = Math.round((at - now) / 1000);
    const detail = `its signed time is ${Math.abs(seconds)} s ${seconds < 0 ? 'before' : 'after'} this clock; ${freshMs / 1000} s are allowed`;
    return refused('standings-stale', { detail });
  }
  return now + freshMs < opens || now >= closes ? refused('epoch-over') : undefined;
}
