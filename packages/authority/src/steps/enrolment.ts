/** Enrolment: admits a device on the allow-list of the task, or one with an unused token. */
import type { Signer } from '@basa/masking';
import { type BasaEvent, type Certificate, certify, type TaskId, type UserId } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { fail, granted, type SigningDevice } from '@basa/service';
import type { AuthorityStore } from '../store/store.ts';
import type { AuthorityTables } from '../store/tables.ts';
import type { Audit } from './audit.ts';
import type { EnrolmentHook } from './enrolment-hook.ts';
import type { KnownTask } from './tasks.ts';

export interface EnrolmentTools {
  readonly store: AuthorityStore;
  readonly signer: Signer;
  readonly audit: Audit;
  /** Decides instead of tokens and the allow-list. */
  readonly hook?: EnrolmentHook | undefined;
  onEvent(event: BasaEvent): void;
}

/**
 * If the device is already enrolled, it gets its certificate again. A device stays enrolled until it is revoked, and needs no second
 * token. A token is used up only if the enrolment succeeds.
 */
export async function enrol(
  { store, signer, audit, hook, onEvent }: EnrolmentTools,
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
    const answer = granted(certify({ signer }, policy, { task, deviceKey }, isRevoked));
    if (await tables.isEnrolled(task, user)) return { certificate: answer, isNew: false };
    const isAdmitted = hook !== undefined || imported === 'enrolled' || (await tables.isAllowed(task, deviceKey));
    if (!isAdmitted) await useToken(tables, task, device, proof);
    await tables.enrol(task, user, deviceKey);
    await audit.write({ kind: 'enrolled', task, user });
    return { certificate: answer, isNew: true };
  });
  if (isNew) onEvent({ kind: 'device-enrolled', task });
  return certificate;
}

/** For all tasks, also of a device that this authority does not know: another one may have enrolled it, or it itself before it was restored. */
export async function revoke({ store, audit, onEvent }: EnrolmentTools, user: UserId): Promise<void> {
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
