/**
 * The memory of one device across all its sessions: what it gave. One ledger per device, behind one lock: two sessions
 * that read it in parallel could give two updates on one model.
 */
import { type Refused, refused } from '../wire/refusals.ts';

/** The uploads that the device gave, whatever became of them. */
export interface GivenUploads {
  /** The highest serial of the models that they were trained on. */
  readonly serial: number;
  readonly uploads: number;
}

export interface DeviceLedger {
  /** Undefined before the first upload. */
  readonly given: GivenUploads | undefined;
}

export type LedgerRecord = { readonly kind: 'given' } & GivenUploads;

export const EMPTY_LEDGER: DeviceLedger = { given: undefined };

/** The ledger after these records. */
export function restoreLedger(records: readonly LedgerRecord[], ledger: DeviceLedger = EMPTY_LEDGER): DeviceLedger {
  return records.reduce<DeviceLedger>((_, { serial, uploads }) => ({ given: { serial, uploads } }), ledger);
}

/** The record that one more upload is given, on the model with this serial. */
export function givenRecord({ given }: DeviceLedger, serial: number): LedgerRecord {
  return { kind: 'given', serial, uploads: (given?.uploads ?? 0) + 1 };
}

/**
 * A device gives once for a serial, whatever becomes of the update, and never for one below. Training is nearly deterministic: sums over
 * overlapping groups of devices on the same model would reveal single updates by subtraction (attack P1).
 */
export function versionProblem({ given }: DeviceLedger, serial: number): Refused | undefined {
  return given === undefined || serial > given.serial ? undefined : refused('version-given');
}
