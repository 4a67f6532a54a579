/**
 * A device: its permanent ledger and its current session. A step reads both and returns records, and only records change them. The records
 * of one step become durable together.
 */
import type { Suite } from '@basa/masking';
import type { BasaEvent } from '../wire/events.ts';
import type { Refused } from '../wire/refusals.ts';
import type { Transition } from '../wire/transition.ts';
import { type DeviceLedger, EMPTY_LEDGER, type LedgerRecord, restoreLedger } from './ledger.ts';
import { evolveSession, type UserRecord, type UserSession } from './session.ts';

export interface Device {
  readonly ledger: DeviceLedger;
  readonly session: UserSession | undefined;
}

export type DeviceRecord = UserRecord | LedgerRecord;

export type DeviceStep<Answer> = Transition<Device, DeviceRecord, Answer>;

const NEW_DEVICE: Device = { ledger: EMPTY_LEDGER, session: undefined };

const LEDGER_KINDS: readonly string[] = ['given'];

/** The ledger outlives the session: its records are kept when those of the session are discarded. */
export function isLedgerRecord(entry: DeviceRecord): entry is LedgerRecord {
  return LEDGER_KINDS.includes(entry.kind);
}

export function isSessionRecord(entry: DeviceRecord): entry is UserRecord {
  return !isLedgerRecord(entry);
}

/** The device after these records. */
export function restoreDevice(suite: Suite, records: readonly DeviceRecord[], device: Device = NEW_DEVICE): Device {
  const evolve = (before: UserSession | undefined, entry: UserRecord) => evolveSession(suite, before, entry);
  return {
    ledger: restoreLedger(records.filter(isLedgerRecord), device.ledger),
    session: records.filter(isSessionRecord).reduce(evolve, device.session),
  };
}

/** A step that writes these records. */
export function recorded<Answer>(
  suite: Suite,
  device: Device,
  records: readonly DeviceRecord[],
  answer: Answer | Refused,
  events: readonly BasaEvent[] = [],
): DeviceStep<Answer> {
  return { state: restoreDevice(suite, records, device), records, answer, events };
}
