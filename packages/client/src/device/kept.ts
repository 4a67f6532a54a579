/** The meaning of the entries of a device's store: certificate, policy, ledger and the unfinished session. */
import { DecodeError, type Suite } from '@basa/masking';
import {
  type Device,
  type DeviceRecord,
  deviceRecordCodec,
  EMPTY_LEDGER,
  type LedgerRecord,
  restoreDevice,
} from '@basa/protocol/one-shot';
import { decodePolicy, encodePolicy, type TaskPolicy } from '@basa/protocol/policy';
import { type Certificate, certificateCodec, KIND, olderLayout } from '@basa/protocol/wire';
import { StoreError } from '../errors.ts';

export interface Kept extends Device {
  readonly certificate: Certificate | undefined;
  /** Kept so that a returning device asks no authority. */
  readonly policy: TaskPolicy | undefined;
}

export function readEntries(suite: Suite, entries: readonly Uint8Array[]): Kept {
  let kept: Kept = {
    certificate: undefined,
    policy: undefined,
    ledger: EMPTY_LEDGER,
    session: undefined,
  };
  // Steps are taken together, because each call copies the ledger.
  let records: DeviceRecord[] = [];
  const takeSteps = (): void => {
    kept = { ...kept, ...restoreDevice(suite, records, kept) };
    records = [];
  };
  for (const entry of entries) {
    try {
      const read = READERS.get(entry[KIND_OFFSET] ?? 0);
      if (read === undefined) records.push(deviceRecordCodec.decode(entry));
      else {
        takeSteps();
        kept = read(kept, entry);
      }
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      const older = olderLayout(entry);
      const what = older === undefined ? `is damaged (${error.message})` : `has ${older}`;
      throw new StoreError(`the store ${what}; enrol a new device in an empty store`);
    }
  }
  takeSteps();
  return kept;
}

/** Every layout names its kind in its third byte, so an entry identifies itself. */
const KIND_OFFSET = 2;

/** The entries that are no steps of the device. */
const READERS: ReadonlyMap<number, (kept: Kept, entry: Uint8Array) => Kept> = new Map<
  number,
  (kept: Kept, entry: Uint8Array) => Kept
>([
  [KIND.certificate, (kept, entry) => ({ ...kept, certificate: certificateCodec.decode(entry) })],
  [KIND.policy, (kept, entry) => ({ ...kept, policy: decodePolicy(entry) })],
]);

/** The entries that outlive a session. */
export function lastingEntries({ certificate, policy, ledger }: Omit<Kept, 'session'>): Uint8Array[] {
  const records: LedgerRecord[] = ledger.given === undefined ? [] : [{ kind: 'given', ...ledger.given }];
  return [
    ...(certificate === undefined ? [] : [certificateCodec.encode(certificate)]),
    ...(policy === undefined ? [] : [encodePolicy(policy)]),
    ...records.map(deviceRecordCodec.encode),
  ];
}
