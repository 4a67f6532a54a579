/** Enrolment: admits a device on the allow-list of the task, or one with an unused token. */
import { toHex } from '@basa/masking';
import type { Certificate, TaskId } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { fail, granted, type SigningDevice } from '@basa/service';
import type { AuthorityStore } from '../store/store.ts';
import type { AuthorityTables } from '../store/tables.ts';
import type { Audit } from './audit.ts';
import type { DurableAuthority } from './durable-authority.ts';
import type { EnrolmentHook } from './enrolment-hook.ts';

export interface EnrolmentTools {
  readonly store: AuthorityStore;
  readonly authority: DurableAuthority;
  readonly audit: Audit;
  /** Decides instead of tokens and the allow-list. */
  readonly hook?: EnrolmentHook | undefined;
}

/**
 * If the device is already enrolled, it gets its certificate again. A device stays enrolled until it is revoked, and needs no second
 * token. A token is used up only if the enrolment succeeds.
 */
export async function enrol(
  { authority, audit, hook }: Omit<EnrolmentTools, 'store'>,
  task: TaskId,
  device: SigningDevice,
  proof: string | undefined,
): Promise<Certificate> {
  const { deviceKey, user } = device;
  const isKnown = authority.directory.task(task)?.certificates.has(toHex(user));
  // Asked before the transaction, which waits for nobody.
  if (hook !== undefined && !isKnown && !(await hook(task, device, proof)))
    fail('enrolment-token-invalid', { detail: 'the owner of the authority does not admit this device' });
  const answer = await authority.take(async ({ tables, core, directory, now }) => {
    if (directory.isRevoked(user)) fail('revoked');
    const known = directory.task(task)?.certificates.get(toHex(user));
    if (known !== undefined) return { records: [], answer: known, events: [] };
    const step = core.enrol({ task, deviceKey });
    const isAdmitted = hook !== undefined || (await tables.isAllowed(task, deviceKey));
    if (!isAdmitted) await useToken(tables, task, device, proof, now);
    await audit.write({ kind: 'enrolled', task, user });
    return step;
  });
  return granted(answer);
}

async function useToken(
  tables: AuthorityTables,
  task: TaskId,
  { user }: SigningDevice,
  proof: string | undefined,
  now: number,
): Promise<void> {
  if (proof === undefined)
    fail('enrolment-token-invalid', {
      detail: 'enrol with a token, or ask the owner of the authority to allow the key of this device',
    });
  const hash = nodeSuite.sha256(Buffer.from(proof, 'hex'));
  if (!(await tables.useToken(hash, task, user, now))) fail('enrolment-token-invalid');
}
