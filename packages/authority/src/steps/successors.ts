/** The devices of a task that another one succeeds: signed for the authorities of that one, and judged by them. */
import { equalBytes } from '@basa/masking';
import {
  type DeviceExport,
  type DeviceExportBody,
  deviceExportCodec,
  exporterOf,
  exportersNeeded,
  type ImportedDevice,
  millis,
  signStatement,
  type TaskId,
  type TaskPolicy,
  taskIdOf,
  type UserId,
  userIdOf,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { fail, granted } from '@basa/service';
import { type EnrolmentTools, revoke } from './enrolment.ts';
import type { KnownTask } from './tasks.ts';

export interface ExportedPage {
  readonly page: DeviceExport;
  /** The first device of the next page. */
  readonly next?: Uint8Array;
}

export async function exportDevices(
  { store, signer }: EnrolmentTools,
  { task }: KnownTask,
  successor: TaskId,
  { from, most }: { readonly from: Uint8Array; readonly most: number },
): Promise<ExportedPage> {
  const { body, next } = await store.transaction(async (tables) => {
    const found = await tables.devices(task, from, most + 1);
    const devices: DeviceExportBody['devices'][number][] = [];
    for (const { deviceKey, user, isRevoked } of found.slice(0, most))
      devices.push({ deviceKey, isRevoked, participations: await tables.batchesOf(task, user) });
    return { body: { task, successor, at: millis(await tables.now()), devices }, next: found[most]?.user };
  });
  return { page: signStatement(deviceExportCodec, signer, body), ...(next !== undefined && { next }) };
}

/** All devices of the predecessor, by what its authorities have told so far. */
export interface Imported {
  readonly enrolled: number;
  readonly revoked: number;
  /** Too few authorities of the predecessor told the same. */
  readonly unknown: number;
}

export async function importDevices(
  tools: EnrolmentTools,
  { task }: KnownTask,
  predecessor: TaskPolicy,
  pages: readonly DeviceExport[],
): Promise<Imported> {
  const told = pages.flatMap((page) => {
    const { authority } = granted(exporterOf(nodeSuite, predecessor, task, page));
    return page.devices.map((device) => ({ device, authority, user: userIdOf(nodeSuite, device.deviceKey) }));
  });
  const before = taskIdOf(nodeSuite, predecessor);
  const judged = await tools.store.transaction(async (tables) => {
    const known = await tables.addPredecessor(task, before, exportersNeeded(predecessor));
    if (!equalBytes(known, before)) fail('export-invalid', { detail: 'this task succeeds another one' });
    for (const { device, authority, user } of told) await tables.addImported(task, authority, user, device);
    const revoked: UserId[] = [];
    for (const { user } of told) if ((await tables.importedAs(task, user)) === 'revoked') revoked.push(user);
    return { revoked, all: await tables.allImported(task) };
  });
  for (const user of judged.revoked) await revoke(tools, user);
  const count = (word: ImportedDevice): number => judged.all.filter((one) => one === word).length;
  return { enrolled: count('enrolled'), revoked: count('revoked'), unknown: count('unknown') };
}
