/** Enrolment: admits a device on the allow-list of the task, or one with an unused token. */
import { toHex } from '@basa/masking';
import type { Certificate, TaskId } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { fail, granted, type SigningDevice } from '@basa/service';
import type { AuthorityStore } from '../store/store.ts';
import type { AuthorityTables } from '../store/tables.ts';
import type { Audit } from './audit.ts';
import type { DurableAuthority } from './durable-authority.ts';

export interface EnrolmentTools {
  readonly store: AuthorityStore;
  readonly authority: DurableAuthority;
  readonly audit: Audit;
}

/**
 * If the device is already enrolled, it gets its certificate again. A device stays enrolled until it is revoked, and needs no second
 * token. A token is used up only if the enrolment succeeds.
 */
export async function enrol(
  { authority, audit }: Pick<EnrolmentTools, 'authority' | 'audit'>,
  task: TaskId,
  device: SigningDevice,
  proof: string | undefined,
): Promise<Certificate> {
  const { deviceKey, user } = device;
  const answer = await authority.take(async ({ tables, core, directory, now }) => {
    if (directory.isRevoked(user)) fail('revoked');
    const known = directory.task(task)?.certificates.get(toHex(user));
    if (known !== undefined) return { records: [], answer: known, events: [] };
    const step = core.enrol({ task, deviceKey });
    if (!(await tables.isAllowed(task, deviceKey))) await useToken(tables, task, device, proof, now);
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
