/**
 * The memory of one device across all its sessions: what it gave, and what it saw. One ledger per device, behind one lock: two sessions
 * that read it in parallel could give two updates on one version.
 */
import { type Refused, refused } from '../wire/refusals.ts';

/** The uploads that the device gave, whatever became of them. */
export interface GivenUploads {
  /** The newest version that one of them was trained on. */
  readonly version: number;
  readonly uploads: number;
}

/** A version of the model with the hash that the authority logged for it. */
export interface SeenModel {
  readonly version: number;
  readonly modelHash: Uint8Array;
}

export interface DeviceLedger {
  /** Undefined before the first upload. */
  readonly given: GivenUploads | undefined;
  /** The newest version that was seen signed: the device trains on no older one. */
  readonly seen: SeenModel | undefined;
  /** The last versions that were seen signed, the newest at the end: an update may be trained on one of them. */
  readonly recent: readonly SeenModel[];
  /** The newest epoch that was seen of each authority: the device seals to no earlier one. */
  readonly epochs: ReadonlyMap<number, number>;
}

/** Larger than the age of an update in any sensible task; an update on an older version is made again. */
const MAX_RECENT = 32;

export type LedgerRecord =
  | ({ readonly kind: 'given' } & GivenUploads)
  | ({ readonly kind: 'seen' } & SeenModel)
  | { readonly kind: 'epoch'; readonly authority: number; readonly number: number };

export const EMPTY_LEDGER: DeviceLedger = { given: undefined, seen: undefined, recent: [], epochs: new Map() };

/** The ledger after these records. It is copied once and not for each of them: after years there are thousands. */
export function restoreLedger(records: readonly LedgerRecord[], ledger: DeviceLedger = EMPTY_LEDGER): DeviceLedger {
  if (records.length === 0) return ledger;
  const epochs = new Map(ledger.epochs);
  let { given, seen, recent } = ledger;
  for (const entry of records) {
    switch (entry.kind) {
      case 'given':
        given = { version: entry.version, uploads: entry.uploads };
        break;
      case 'epoch':
        epochs.set(entry.authority, entry.number);
        break;
      case 'seen':
        seen = { version: entry.version, modelHash: entry.modelHash };
        recent = [...recent, seen].slice(-MAX_RECENT);
    }
  }
  return { given, seen, recent, epochs };
}

/** The record that one more upload is given, on this version. */
export function givenRecord({ given }: DeviceLedger, version: number): LedgerRecord {
  return { kind: 'given', version, uploads: (given?.uploads ?? 0) + 1 };
}

/**
 * A device gives once for a version, whatever becomes of the update, and never for an earlier one. Training is nearly deterministic:
 * sums over overlapping groups of devices on the same model would reveal single updates by subtraction (attack P1).
 */
export function versionProblem({ given }: DeviceLedger, version: number): Refused | undefined {
  if (given === undefined || version > given.version) return undefined;
  return refused('version-given', { detail: `version ${given.version}` });
}
