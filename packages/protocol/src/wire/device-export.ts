/** The devices of a task, as one of its authorities tells them to the authorities of the task that succeeds it. */
import { equalBytes, type Suite } from '@basa/masking';
import type { Millis, TaskId } from './brands.ts';
import { fixed, flag, list, record, u32 } from './fields.ts';
import { KIND } from './kinds.ts';
import { field } from './named-fields.ts';
import { oneShotOf } from './one-shot/parts.ts';
import { vouchersOf } from './one-shot/policy.ts';
import { type TaskPolicy, taskIdOf } from './policy.ts';
import { type Refused, refused } from './refusals.ts';
import { isSigned, type Signature, type SignedCodec, signedMessage } from './signed.ts';

export interface ExportedDevice {
  readonly deviceKey: Uint8Array;
  readonly isRevoked: boolean;
  /** Of a private task: the number of its batches. */
  readonly participations: number;
}

export interface DeviceExportBody {
  readonly task: TaskId;
  readonly successor: TaskId;
  readonly at: Millis;
  readonly devices: readonly ExportedDevice[];
}
export type DeviceExport = DeviceExportBody & Signature;

/** The largest number of devices in one message. */
export const MAX_EXPORTED = 1000;

export const deviceExportCodec: SignedCodec<DeviceExportBody> = signedMessage(KIND.deviceExport, 'deviceExport', {
  task: field.task,
  successor: field.task,
  at: field.millis,
  devices: list(MAX_EXPORTED, record<ExportedDevice>({ deviceKey: fixed(32), isRevoked: flag, participations: u32 })),
});

/** Returns the index of the authority of the predecessor that signed the export for this task. */
export function exporterOf(
  suite: Suite,
  predecessor: TaskPolicy,
  successor: TaskId,
  told: DeviceExport,
): { readonly kind: 'exporter'; readonly authority: number } | Refused {
  const isForIt = equalBytes(told.task, taskIdOf(suite, predecessor)) && equalBytes(told.successor, successor);
  const authority = predecessor.authorities.findIndex((key) => isSigned(suite, deviceExportCodec, told, key));
  return isForIt && authority >= 0 ? { kind: 'exporter', authority } : refused('export-invalid');
}

/** The number of authorities of the predecessor whose word counts: one of them is honest. */
export function exportersNeeded(predecessor: TaskPolicy): number {
  return vouchersOf(oneShotOf(predecessor));
}

/** A device of the predecessor, as its authorities tell. `unknown`: too few of them agree. */
export type ImportedDevice = 'enrolled' | 'revoked' | 'unknown';

/** By the number of authorities that told of it, and of those that revoked it; revoked by enough of them wins. */
export function importedDevice(
  needed: number,
  { told, revoked }: { readonly told: number; readonly revoked: number },
): ImportedDevice {
  if (revoked >= needed) return 'revoked';
  return told - revoked >= needed ? 'enrolled' : 'unknown';
}
