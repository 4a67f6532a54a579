/** Enrolment: admits a device on the allow-list of the task, or one with an unused token. An enrolled device renews. */
import { type RandomBytes, toHex } from '@basa/masking';
import { type Certificate, isDueForRenewal, millis, type TaskId } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { fail, granted, type RateLimit, type SigningDevice, type TokenBuckets } from '@basa/service';
import type { KnownTask } from '../log/directory.ts';
import type { AuthorityStore } from '../store/store.ts';
import type { AuthorityTables } from '../store/tables.ts';
import type { DurableAuthority } from './durable-authority.ts';

export interface EnrolmentTools {
  readonly store: AuthorityStore;
  readonly authority: DurableAuthority;
  readonly randomBytes: RandomBytes;
  readonly certificateMs: number;
  /** Limits how often a device gets a changed certificate, because each certificate stays in the log permanently. */
  readonly otherWords: TokenBuckets;
}

/** Authorities whose clocks or answers differ make a device ask a few times; a device that keeps asking only fills the log. */
export const OTHER_WORDS: RateLimit = { burst: 20, perSecond: 1 / 600 };

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
 * If the device is already enrolled, it gets its certificate again, or a new one when renewal is due. A device stays enrolled until it is
 * revoked, and needs no second token. A token is used up only if the enrolment succeeds.
 */
export async function enrol(
  { authority, certificateMs, otherWords }: EnrolmentTools,
  task: TaskId,
  device: SigningDevice,
  { token, like }: EnrolmentAsked,
): Promise<Certificate> {
  const { deviceKey, user } = device;
  const answer = await authority.take(async ({ tables, core, directory, now }) => {
    if (directory.isRevoked(user)) fail('revoked');
    const known = directory.task(task)?.certificates.get(toHex(user));
    const isAsked = like === undefined || (known?.issuedAt === like.issuedAt && known.notAfter === like.notAfter);
    if (known !== undefined && isAsked && !isDueForRenewal(known, now))
      return { records: [], answer: known, events: [] };
    if (like !== undefined && !isAllowed(like, now, certificateMs))
      fail('malformed', { detail: `the certificate would run from ${like.issuedAt} to ${like.notAfter}` });
    const { issuedAt, notAfter } = like ?? { issuedAt: now, notAfter: now + certificateMs };
    const body = { task, deviceKey, issuedAt: millis(issuedAt), notAfter: millis(notAfter) };
    const step = core.enrol(body);
    const isNew = known === undefined && step.records.length > 0;
    const wait = !isNew && step.records.length > 0 ? otherWords.take(toHex(user), now) : undefined;
    if (wait !== undefined) fail('rate-limited', wait);
    if (isNew && !(await tables.isAllowed(task, deviceKey))) await useToken(tables, task, device, token, now);
    return step;
  });
  return granted(answer);
}

/** The request of a device. */
export interface EnrolmentAsked {
  readonly token?: string | undefined;
  readonly like?: Validity | undefined;
}

/** The validity of a certificate. All authorities sign the same bytes, so the first authority that is asked decides it. */
interface Validity {
  readonly issuedAt: number;
  readonly notAfter: number;
}

const CLOCK_SLACK_MS = 10 * 60_000;

/** No longer than this authority would allow, and neither long ago nor in the future. */
function isAllowed({ issuedAt, notAfter }: Validity, now: number, certificateMs: number): boolean {
  return (
    issuedAt <= now + CLOCK_SLACK_MS &&
    notAfter > now &&
    notAfter > issuedAt &&
    notAfter <= now + certificateMs + CLOCK_SLACK_MS
  );
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
