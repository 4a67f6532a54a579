/** Who may enrol: a device on the allow-list of the task, or one that brings a token that nobody used. Who is enrolled renews. */
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
  /** How often a device gets other words than those it has: each stands in the log for good. */
  readonly otherWords: TokenBuckets;
}

/** Authorities whose clocks or answers differ make a device ask a few times; one that asks on and on only fills the log. */
export const OTHER_WORDS: RateLimit = { burst: 20, perSecond: 1 / 600 };

const TOKEN_BYTES = 24;

/** Fresh tokens, or those that another authority of the task made; the store keeps their hashes alone. */
export async function makeTokens(
  { store, randomBytes }: EnrolmentTools,
  { task }: KnownTask,
  {
    count,
    tokens: given,
    endsAt,
  }: { readonly count?: number; readonly tokens?: readonly string[]; readonly endsAt: number },
): Promise<readonly string[]> {
  // People type tokens behind a flag: one that begins like a flag would be taken for one.
  const make = (): string => {
    const token = Buffer.from(randomBytes(TOKEN_BYTES)).toString('base64url');
    return token.startsWith('-') ? make() : token;
  };
  return store.transaction(async (tables) => {
    const tokens = given ?? Array.from({ length: count ?? 0 }, make); // again where this is run again: others may be there by now
    for (const token of tokens) await tables.addToken(hashOf(token), task, endsAt);
    return tokens;
  });
}

/**
 * The same device again gets its certificate, or another one once that is due for renewal: who is enrolled stays so until it is
 * revoked, and needs no second token. A token is used up with the enrolment or not at all.
 */
export async function enrol(
  { authority, certificateMs, otherWords }: EnrolmentTools,
  task: TaskId,
  device: SigningDevice,
  { token, like }: { readonly token?: string | undefined; readonly like?: Term | undefined },
): Promise<Certificate> {
  const { deviceKey, user } = device;
  const answer = await authority.take(async ({ tables, core, directory, now }) => {
    if (directory.isRevoked(user)) fail('revoked');
    const known = directory.task(task)?.certificates.get(toHex(user));
    const isAsked = like === undefined || (known?.issuedAt === like.issuedAt && known.notAfter === like.notAfter);
    if (known !== undefined && isAsked && !isDueForRenewal(known, now))
      return { records: [], answer: known, events: [] };
    if (like !== undefined && !isAllowedTerm(like, now, certificateMs))
      fail('malformed', { detail: `the certificate would run from ${like.issuedAt} to ${like.notAfter}` });
    const term = like ?? { issuedAt: now, notAfter: now + certificateMs };
    const body = { task, deviceKey, issuedAt: millis(term.issuedAt), notAfter: millis(term.notAfter) };
    const step = core.enrol(body);
    const isNew = known === undefined && step.records.length > 0;
    const wait = !isNew && step.records.length > 0 ? otherWords.take(toHex(user), now) : undefined;
    if (wait !== undefined) fail('rate-limited', wait);
    if (isNew && !(await tables.isAllowed(task, deviceKey))) await useToken(tables, task, device, token, now);
    return step;
  });
  return granted(answer);
}

/** From when to when a certificate holds: all authorities sign the same words, so the first one that is asked says it. */
export interface Term {
  readonly issuedAt: number;
  readonly notAfter: number;
}

const CLOCK_SLACK_MS = 10 * 60_000;

/** No longer than this authority would have it, and not from long ago or from tomorrow. */
function isAllowedTerm({ issuedAt, notAfter }: Term, now: number, certificateMs: number): boolean {
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
  if (token === undefined) fail('enrolment-token-invalid', { detail: 'send a token, or ask to be put on the list' });
  if (!(await tables.useToken(hashOf(token), task, user, now))) fail('enrolment-token-invalid');
}

function hashOf(token: string): Uint8Array {
  return nodeSuite.sha256(Buffer.from(token, 'utf8'));
}
