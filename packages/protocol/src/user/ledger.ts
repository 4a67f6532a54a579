/**
 * The memory of one device across all its sessions: what it gave. One ledger per device, behind one lock: two sessions
 * that read it in parallel could give two updates on one model.
 */
import type { Millis } from '../wire/brands.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { type Refused, refused } from '../wire/refusals.ts';

/** The uploads that the device gave, whatever became of them. */
export interface GivenUploads {
  /** The highest serial of the models that they were trained on. */
  readonly serial: number;
  readonly uploads: number;
  /** When the last one was given, by the device's own clock. */
  readonly at: Millis;
}

export interface DeviceLedger {
  /** Undefined before the first upload. */
  readonly given: GivenUploads | undefined;
}

export type LedgerRecord = { readonly kind: 'given' } & GivenUploads;

export const EMPTY_LEDGER: DeviceLedger = { given: undefined };

/** The ledger after these records. */
export function restoreLedger(records: readonly LedgerRecord[], ledger: DeviceLedger = EMPTY_LEDGER): DeviceLedger {
  return records.reduce<DeviceLedger>((_, { serial, uploads, at }) => ({ given: { serial, uploads, at } }), ledger);
}

/** The record that one more upload is given, on the model with this serial. */
export function givenRecord({ given }: DeviceLedger, serial: number, at: Millis): LedgerRecord {
  return { kind: 'given', serial, uploads: (given?.uploads ?? 0) + 1, at };
}

/**
 * A device gives once for a serial, whatever becomes of the update, and never for one below. Training is nearly deterministic: sums over
 * overlapping groups of devices on the same model would reveal single updates by subtraction (attack P1).
 */
export function versionProblem({ given }: DeviceLedger, serial: number): Refused | undefined {
  return given === undefined || serial > given.serial ? undefined : refused('version-given');
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
