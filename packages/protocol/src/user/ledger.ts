/**
 * The memory of one device across all its sessions: what it gave. One ledger per device, behind one lock: two sessions
 * that read it in parallel could give two updates on one model.
 */
import { equalBytes } from '@basa/masking';
import type { Millis, TaskId } from '../wire/brands.ts';
import type { ModelStatementBody } from '../wire/model.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { type Refused, refused } from '../wire/refusals.ts';

/** The uploads that the device gave, whatever became of them. */
export interface GivenUploads {
  /** The highest serial of the models that they were trained on. */
  readonly serial: number;
  readonly uploads: number;
  /** When the last one was given, by the device's own clock. */
  readonly at: Millis;
  /** The task and the parameters of the model with this serial. */
  readonly task: TaskId;
  readonly model: Uint8Array;
}

export interface DeviceLedger {
  /** Undefined before the first upload. */
  readonly given: GivenUploads | undefined;
}

export type LedgerRecord = { readonly kind: 'given' } & GivenUploads;

export const EMPTY_LEDGER: DeviceLedger = { given: undefined };

/** The ledger after these records. */
export function restoreLedger(records: readonly LedgerRecord[], ledger: DeviceLedger = EMPTY_LEDGER): DeviceLedger {
  return records.reduce<DeviceLedger>((_, { kind: __, ...given }) => ({ given }), ledger);
}

/** The record that one more upload is given. */
export function givenRecord(
  { given }: DeviceLedger,
  { task, serial, modelHash }: ModelStatementBody,
  at: Millis,
): LedgerRecord {
  return { kind: 'given', serial, uploads: (given?.uploads ?? 0) + 1, at, task, model: modelHash };
}

/**
 * A device gives once for a serial, whatever becomes of the update, and never for one below. Training is nearly deterministic: sums over
 * overlapping groups of devices on the same model would reveal single updates by subtraction (attack P1). The first model of a task that
 * succeeds another one is often the last one of that.
 */
export function versionProblem(
  { given }: DeviceLedger,
  { task, serial, modelHash }: Omit<ModelStatementBody, 'version'>,
): Refused | undefined {
  if (given === undefined) return undefined;
  const isOfPredecessor = !equalBytes(task, given.task) && equalBytes(modelHash, given.model);
  return serial <= given.serial || isOfPredecessor ? refused('version-given') : undefined;
}

/** The time for which a device still gives nothing, because it gave a moment ago. A clock that was set back does not make it longer. */
export function restMs({ given }: DeviceLedger, { oneShot }: Pick<TaskPolicy, 'oneShot'>, now: Millis): number {
  if (given === undefined || oneShot === undefined || now < given.at) return 0;
  return Math.max(0, given.at + oneShot.minIntervalMs - now);
}

export function intervalProblem(
  ledger: DeviceLedger,
  policy: Pick<TaskPolicy, 'oneShot'>,
  now: Millis,
): Refused | undefined {
  const ms = restMs(ledger, policy, now);
  return ms === 0 ? undefined : refused('given-lately', { detail: `${Math.ceil(ms / 1000)} s are left` });
}
