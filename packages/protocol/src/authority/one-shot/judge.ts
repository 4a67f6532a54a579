/** Judges an upload by the authority's own memory: revoked, used, of an ended epoch or of an unknown version. */
import { equalBytes, type Suite } from '@basa/masking';
import type { Millis } from '../../wire/brands.ts';
import type { ModelEntry } from '../../wire/model-log.ts';
import { givenNameOf, usedNameOf } from '../../wire/one-shot/batch.ts';
import type { ShotHeader } from '../../wire/one-shot/upload.ts';
import { type Refused, refused } from '../../wire/refusals.ts';
import type { AuthorityRecord } from '../records.ts';
import type { AuthorityState } from '../state.ts';
import type { AuthorityTask } from '../task.ts';
import { batchOf } from './batches.ts';
import { isOneShot } from './epochs.ts';
import type { ExaminedUpload } from './examine.ts';
import type { SharedWork } from './shared-work.ts';

export interface Judgement {
  readonly suite: Suite;
  readonly state: AuthorityState;
  readonly task: AuthorityTask;
  /** The index of this authority. */
  readonly authority: number;
  /** Entries of the model log that the server shows, for an authority that was away. */
  readonly models: readonly ModelEntry[];
  /** The time by this authority's records, never before them. */
  readonly at: Millis;
  /**
   * f + 1 others voted already: one of them is honest, knows the device and found everything in time. Then staleness,
   * the end of the vote window, a device that enrolled elsewhere and one that was revoked in the last minutes do not
   * block the batch.
   */
  readonly isBacked: boolean;
  readonly shared: SharedWork;
}

/** A device that was revoked within this time is tolerated if others voted before that. */
const RACE_MS = 15 * 60_000;

/** Returns the reason why the authority does not vote for the upload. A batch with the name `within` may hold it. */
export function memoryProblem(
  judgement: Judgement,
  { header }: ExaminedUpload,
  within?: Uint8Array,
): Refused | undefined {
  return (
    epochProblem(judgement, header) ??
    deviceProblem(judgement, header) ??
    entryProblem(judgement, header) ??
    usedProblem(judgement, header, within) ??
    // An upload that is in the batch is counted already.
    (within === undefined ? budgetProblem(judgement, header) : undefined)
  );
}

function epochProblem({ state, task, authority, at, isBacked }: Judgement, header: ShotHeader): Refused | undefined {
  const own = header.epochs.find((name) => name.authority === authority);
  const epoch = own && state.epochs.live(own.statement);
  if (epoch === undefined || !isOneShot(task.policy)) return refused('epoch-over');
  const isInTime = isBacked || at < epoch.closes + task.policy.oneShot.epochMs;
  return isInTime ? undefined : refused('epoch-over');
}

function deviceProblem({ state, at, isBacked }: Judgement, { user }: ShotHeader): Refused | undefined {
  const device = state.device(user);
  const slack = isBacked ? RACE_MS : 0;
  if (device === undefined && !isBacked) return refused('not-enrolled');
  if (device?.revoked && at >= (device.revokedAt ?? 0) + slack) return refused('revoked');
  return undefined;
}

/** The participations of the device in a private task. */
function budgetProblem({ state, task }: Judgement, { user }: ShotHeader): Refused | undefined {
  return state.inclusions.problem(task.id, task.policy.privacy, user);
}

/** The entry must be in this authority's log, or be shown with enough signatures, and not be too old. */
function entryProblem(
  { state, task, models, isBacked, shared }: Judgement,
  { version, entry }: ShotHeader,
): Refused | undefined {
  const { id, policy, newest } = task;
  const logged = newest?.version === version ? newest : state.model(id, version);
  const shown = models.find((one) => one.version === version && equalBytes(shared.entryHash(one), entry));
  if (logged !== undefined && !equalBytes(shared.entryHash(logged), entry)) return refused('other-model');
  const isKnown =
    logged !== undefined || (shown !== undefined && equalBytes(shown.task, id) && shared.isEndorsed(shown));
  if (!isKnown) return refused('model-not-logged');
  const age = (newest?.version ?? version) - version;
  return age > policy.maxStaleness && !isBacked ? refused('too-stale') : undefined;
}

/** One vote per upload, and one update of a device per entry of the model log. */
function usedProblem(
  { suite, state, task, shared }: Judgement,
  header: ShotHeader,
  within: Uint8Array | undefined,
): Refused | undefined {
  const used = state.past.named(usedNameOf(suite, task.id, header));
  const given = state.past.named(givenNameOf(suite, task.id, header.entry, header.user));
  const isElsewhere = [...used, ...given].some((entry) => isOther(shared, entry, within));
  return isElsewhere ? refused('upload-used') : undefined;
}

/** True if it belongs to a batch with another name. */
function isOther(shared: SharedWork, entry: AuthorityRecord, ctx: Uint8Array | undefined): boolean {
  const list = batchOf([entry])?.list;
  return list !== undefined && (ctx === undefined || !equalBytes(shared.batch(list.batch).ctx, ctx));
}
