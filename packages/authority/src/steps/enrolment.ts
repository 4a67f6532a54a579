/** Enrolment: admits a device on the allow-list of the task, one with an unused token, or one that the task before had. */
import { equalBytes, toHex } from '@basa/masking';
import { millis, type TaskId, type UserId } from '@basa/protocol';
import { type TaskPolicy, taskIdOf } from '@basa/protocol/policy';
import { type Certificate, Devices, signStatement } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import { fail, granted, type SigningDevice } from '@basa/service';
import type { AuthorityTables } from '../store/store.ts';
import type { AuthorityContext, EnrolmentHook } from './context.ts';
import type { KnownTask } from './tasks.ts';

// Enrolment: admits a device on the allow-list of the task, or one with an unused token.

/**
 * If the device is already enrolled, it gets its certificate again. A device stays enrolled until it is revoked, and needs no second
 * token. A token is used up only if the enrolment succeeds.
 */
export async function enrol(
  { store, signer, audit, hook, onEvent }: AuthorityContext,
  { task, policy }: KnownTask,
  device: SigningDevice,
  proof: string | undefined,
): Promise<Certificate> {
  const { deviceKey, user } = device;
  const isKnown = (): Promise<boolean> =>
    store.transaction(
      async (tables) => (await tables.isEnrolled(task, user)) || (await tables.importedAs(task, user)) === 'enrolled',
    );
  // Asked before the transaction, which waits for nobody.
  if (hook !== undefined && !(await isKnown()) && !(await hook(task, device, proof)))
    fail('enrolment-token-invalid', { detail: 'the owner of the authority does not admit this device' });
  const { certificate, isNew } = await store.transaction(async (tables) => {
    const imported = await tables.importedAs(task, user);
    const isRevoked = imported === 'revoked' || (await tables.isRevoked(user));
    const answer = granted(Devices.certify({ signer }, policy, { task, deviceKey }, isRevoked));
    if (await tables.isEnrolled(task, user)) return { certificate: answer, isNew: false };
    const isAdmitted = hook !== undefined || imported === 'enrolled' || (await tables.isAllowed(task, deviceKey));
    if (!isAdmitted) await useToken(tables, task, device, proof);
    await tables.enrol(task, user, deviceKey);
    await audit.write({ kind: 'enrolled', task, user });
    return { certificate: answer, isNew: true };
  });
  if (isNew) onEvent({ kind: 'device-enrolled', task }, task);
  return certificate;
}

/** For all tasks, also of a device that this authority does not know: another one may have enrolled it, or it itself before it was restored. */
export async function revoke({ store, audit, onEvent }: AuthorityContext, user: UserId): Promise<void> {
  const isNew = await store.transaction(async (tables) => {
    if (await tables.isRevoked(user)) return false;
    await tables.revoke(user);
    await audit.write({ kind: 'revoked', user });
    return true;
  });
  if (isNew) onEvent({ kind: 'device-revoked' });
}

async function useToken(
  tables: AuthorityTables,
  task: TaskId,
  { user }: SigningDevice,
  proof: string | undefined,
): Promise<void> {
  if (proof === undefined)
    fail('enrolment-token-invalid', {
      detail: 'enrol with a token, or ask the owner of the authority to allow the key of this device',
    });
  const hash = nodeSuite.sha256(Buffer.from(proof, 'hex'));
  if (!(await tables.useToken(hash, task, user, await tables.now()))) fail('enrolment-token-invalid');
}

// The owner's directory of users decides who may enrol. It has little time and few bytes for its answer, and only a clear yes is one.

export interface HookOptions {
  /** https, or plain http on this machine: whoever can change its answers lets devices in. */
  readonly url: string;
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 5000;
const MAX_ANSWER_BYTES = 1024;
const MOST_AT_ONCE = 32;
const AGAIN_MS = 5000;

export function enrolmentHook({ url, timeoutMs = TIMEOUT_MS }: HookOptions): EnrolmentHook {
  let underWay = 0;
  return async (task, { deviceKey, user }, proof) => {
    if (underWay >= MOST_AT_ONCE) fail('overloaded', { retryAfterMs: AGAIN_MS });
    underWay++;
    try {
      const asked = { task: toHex(task), deviceKey: toHex(deviceKey), user: toHex(user), ...(proof && { proof }) };
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(asked),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const { admit } = Object(JSON.parse(await shortText(response))) as { readonly admit?: unknown };
      if (!response.ok || typeof admit !== 'boolean') throw new Error(`status ${response.status}`);
      return admit;
    } catch {
      return fail('overloaded', { retryAfterMs: AGAIN_MS, detail: 'the directory of the owner gave no answer' });
    } finally {
      underWay--;
    }
  };
}

async function shortText({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop cancels the rest of the body.
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += part.length;
    if (length > MAX_ANSWER_BYTES) throw new Error('too long an answer');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

// The devices of a task that another one succeeds: signed for the authorities of that one, and judged by them.

export interface ExportedPage {
  readonly page: Devices.DeviceExport;
  /** The first device of the next page. */
  readonly next?: Uint8Array;
}

export async function exportDevices(
  { store, signer }: AuthorityContext,
  { task }: KnownTask,
  successor: TaskId,
  { from, most }: { readonly from: Uint8Array; readonly most: number },
): Promise<ExportedPage> {
  const { body, next } = await store.transaction(async (tables) => {
    const found = await tables.devices(task, from, most + 1);
    const devices: Devices.DeviceExportBody['devices'][number][] = [];
    for (const { deviceKey, user, isRevoked } of found.slice(0, most))
      devices.push({ deviceKey, isRevoked, participations: await tables.batchesOf(task, user) });
    return { body: { task, successor, at: millis(await tables.now()), devices }, next: found[most]?.user };
  });
  return { page: signStatement(Devices.DeviceExport, signer, body), ...(next !== undefined && { next }) };
}

/** All devices of the predecessor, by what its authorities have told so far. */
export interface Imported {
  readonly enrolled: number;
  readonly revoked: number;
  /** Too few authorities of the predecessor told the same. */
  readonly unknown: number;
}

export async function importDevices(
  context: AuthorityContext,
  { task }: KnownTask,
  predecessor: TaskPolicy,
  pages: readonly Devices.DeviceExport[],
): Promise<Imported> {
  const told = pages.flatMap((page) => {
    const { authority } = granted(Devices.exporterOf(nodeSuite, predecessor, task, page));
    return page.devices.map((device) => ({ device, authority, user: Devices.userIdOf(nodeSuite, device.deviceKey) }));
  });
  const before = taskIdOf(nodeSuite, predecessor);
  const judged = await context.store.transaction(async (tables) => {
    const known = await tables.addPredecessor(task, before, Devices.exportersNeeded(predecessor));
    if (!equalBytes(known, before)) fail('export-invalid', { detail: 'this task succeeds another one' });
    for (const { device, authority, user } of told) await tables.addImported(task, authority, user, device);
    const revoked: UserId[] = [];
    for (const { user } of told) if ((await tables.importedAs(task, user)) === 'revoked') revoked.push(user);
    return { revoked, all: await tables.allImported(task) };
  });
  for (const user of judged.revoked) await revoke(context, user);
  const count = (word: Devices.ImportedDevice): number => judged.all.filter((one) => one === word).length;
  return { enrolled: count('enrolled'), revoked: count('revoked'), unknown: count('unknown') };
}
