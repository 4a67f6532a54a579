/** Who may enrol: a device on the allow-list of the task, or one that brings a token that nobody used. */
import type { RandomBytes } from '@basa/masking';
import { toHex } from '@basa/masking';
import type { Certificate, Millis } from '@basa/protocol';
import { millis } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { SigningDevice } from '@basa/service';
import { fail, granted } from '@basa/service';
import type { KnownTask } from './directory.ts';
import type { DurableAuthority } from './durable-authority.ts';
import type { AuthorityStore } from './store.ts';

export interface EnrolmentTools {
  readonly store: AuthorityStore;
  readonly authority: DurableAuthority;
  readonly randomBytes: RandomBytes;
  readonly certificateMs: number;
}

const TOKEN_BYTES = 24;

/** Fresh tokens; the store keeps their hashes alone. */
export function makeTokens(
  { store, randomBytes }: EnrolmentTools,
  { task }: KnownTask,
  { count, endsAt }: { readonly count: number; readonly endsAt: number },
): readonly string[] {
  const tokens = Array.from({ length: count }, () => Buffer.from(randomBytes(TOKEN_BYTES)).toString('base64url'));
  store.atomically(() => {
    for (const token of tokens) store.addToken(hashOf(token), task, endsAt);
  });
  return tokens;
}

/** The same device again gets its certificate, while it is good; a token is used up with the enrolment or not at all. */
export function enrol(
  { store, authority, certificateMs }: EnrolmentTools,
  { task, certificates }: KnownTask,
  { deviceKey, user }: SigningDevice,
  token: string | undefined,
  now: Millis,
): Certificate {
  if (authority.directory.isRevoked(user)) fail('revoked');
  const known = certificates.get(toHex(user));
  if (known !== undefined && now <= known.notAfter) return known;
  const step = authority.core.enrol({ task, deviceKey, notAfter: millis(now + certificateMs) });
  return granted(
    authority.take(step, {
      write() {
        if (store.isAllowed(task, deviceKey)) return;
        if (token === undefined)
          fail('enrolment-token-invalid', { detail: 'send a token, or ask to be put on the list' });
        if (!store.useToken(hashOf(token), task, user, now)) fail('enrolment-token-invalid');
      },
    }),
  );
}

function hashOf(token: string): Uint8Array {
  return nodeSuite.sha256(Buffer.from(token, 'utf8'));
}
