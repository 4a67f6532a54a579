/** Enrolment: admits a device on the allow-list of the task, or one with an unused token. */
import { type RandomBytes, toHex } from '@basa/masking';
import type { Certificate, TaskId } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { fail, granted, type SigningDevice } from '@basa/service';
import type { KnownTask } from '../log/directory.ts';
import type { AuthorityStore } from '../store/store.ts';
import type { AuthorityTables } from '../store/tables.ts';
import type { Audit } from './audit.ts';
import type { DurableAuthority } from './durable-authority.ts';

export interface EnrolmentTools {
  readonly store: AuthorityStore;
  readonly authority: DurableAuthority;
  readonly audit: Audit;
  readonly randomBytes: RandomBytes;
}

const TOKEN_BYTES = 24;

/** Makes new tokens, or accepts tokens that another authority of the task made. The store keeps only their hashes. */
export async function makeTokens(
  { store, randomBytes }: EnrolmentTools,
  { task }: KnownTask,
  {
    count,
    tokens: given,
    endsAt,
  }: { readonly count?: number; readonly tokens?: readonly string[]; readonly endsAt: number },
): Promise<readonly string[]> {
  // People type tokens after a flag: a token that begins like a flag would be read as one.
  const make = (): string => {
    const token = Buffer.from(randomBytes(TOKEN_BYTES)).toString('base64url');
    return token.startsWith('-') ? make() : token;
  };
  return store.transaction(async (tables) => {
    const tokens = given ?? Array.from({ length: count ?? 0 }, make); // drawn again on a retry, because others may be in the table by now
    for (const token of tokens) await tables.addToken(hashOf(token), task, endsAt);
    return tokens;
  });
}

/**
 * If the device is already enrolled, it gets its certificate again. A device stays enrolled until it is revoked, and needs no second
 * token. A token is used up only if the enrolment succeeds.
 */
export async function enrol(
  { authority, audit }: Pick<EnrolmentTools, 'authority' | 'audit'>,
  task: TaskId,
  device: SigningDevice,
  token: string | undefined,
): Promise<Certificate> {
  const { deviceKey, user } = device;
  const answer = await authority.take(async ({ tables, core, directory, now }) => {
    if (directory.isRevoked(user)) fail('revoked');
    const known = directory.task(task)?.certificates.get(toHex(user));
    if (known !== undefined) return { records: [], answer: known, events: [] };
    const step = core.enrol({ task, deviceKey });
    if (!(await tables.isAllowed(task, deviceKey))) await useToken(tables, task, device, token, now);
    await audit.write({ kind: 'enrolled', task, user });
    return step;
  });
  return granted(answer);
}

async function useToken(
  tables: AuthorityTables,
  task: TaskId,
  { user }: SigningDevice,
  token: string | undefined,
  now: number,
): Promise<void> {
  if (token === undefined)
    fail('enrolment-token-invalid', {
      detail: 'enrol with a token, or ask the operator to allow the key of this device',
    });
  if (!(await tables.useToken(hashOf(token), task, user, now))) fail('enrolment-token-invalid');
}

function hashOf(token: string): Uint8Array {
  return nodeSuite.sha256(Buffer.from(token, 'utf8'));
}
