/**
 * Sign-in of operators by OpenID Connect: tokens that an issuer signed, and the roles that their claims stand for. The issuer is asked for
 * its keys with the first token, when a key is new, and every ten minutes.
 */
import { Network } from '@basa/protocol/http';
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { Type } from 'typebox';
import { wrongConfiguration } from '../process/start-error.ts';
import { closed } from './messages.ts';
import type { Role, SignIn } from './operators.ts';
import { fail } from './problems.ts';

/** Signatures of public keys only: with one of a shared secret, whoever knows the public key could sign. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const PATIENCE_MS = 5000;
/** After an issuer that did not answer: requests with made-up tokens cause no more requests than this. */
const REST_MS = 5000;
/** An issuer may move its keys to another address. */
const DISCOVERED_MS = 3_600_000;
const SKEW_S = 30;
/** An older token is refused even if its issuer lets it live longer. */
const OLDEST_S = 86_400;

/** The key `oidc` of the configuration. */
export function signInKey(roles: readonly Role[]) {
  const role = Type.Union(roles.map((one) => Type.Literal(one)));
  const text = Type.String({ minLength: 1 });
  return Type.Object(
    {
      issuer: Type.String({ pattern: '^https?://' }),
      audience: text,
      clientId: text,
      rolesClaim: Type.String({ minLength: 1, default: 'roles' }),
      scope: Type.String({ minLength: 1, default: 'openid' }),
      origins: Type.Array(Type.String({ pattern: '^https?://[^/]+$' }), { default: [] }),
      roles: Type.Record(Type.String(), Type.Array(role)),
    },
    {
      ...closed,
      description: `sign-in of operators by OpenID Connect, in addition to \`operators\`: \`issuer\`, \`audience\` and \`clientId\` as the issuer knows them, \`rolesClaim\` (default: roles), \`scope\` (default: openid), \`origins\` (those of its endpoints, if they are not that of \`issuer\`), and \`roles\`: for each value of that claim the roles here (${roles.map((one) => `\`${one}\``).join(', ')}); default: only tokens`,
    },
  );
}

export interface SignInOptions {
  readonly issuer: string;
  readonly audience: string;
  /** That of the browser flow. */
  readonly clientId: string;
  /** The name of a claim, or a path such as `realm_access.roles`. */
  readonly rolesClaim: string;
  readonly scope: string;
  /** The browser flow may ask these, besides that of the issuer. */
  readonly origins: readonly string[];
  readonly roles: Readonly<Record<string, readonly Role[]>>;
}

/** Its address decides who an operator is, so it must not be read or changed on the way. */
export function checkIssuer({ issuer, origins }: Pick<SignInOptions, 'issuer' | 'origins'>): void {
  for (const address of [issuer, ...origins])
    if (!isSafe(address)) throw wrongConfiguration(`oidc: the address ${address} must begin with https://`);
}

function isSafe(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && Network.isLoopback(hostname));
}

export function signIn(options: SignInOptions, clock: () => number): SignIn {
  const { issuer, audience, rolesClaim, roles } = options;
  const required = { issuer, audience, algorithms: ALGORITHMS, requiredClaims: ['exp', 'sub'], maxTokenAge: OLDEST_S };
  const keys = keysOf(issuer, clock);
  return {
    async check(token) {
      const verified = { ...required, clockTolerance: SKEW_S, currentDate: new Date(clock()) };
      const { payload } = await keys()
        .then((found) => jwtVerify(token, found, verified))
        .catch(refuse);
      const values = valuesAt(payload, rolesClaim).filter((value) => Object.hasOwn(roles, value));
      return { roles: [...new Set(values.flatMap((value) => roles[value] ?? []))], subject: String(payload.sub) };
    },
  };

  function refuse(error: unknown): never {
    const detail = error instanceof errors.JOSEError ? reasonOf(error) : undefined;
    fail('operator-token-missing', {
      detail: detail ?? `the keys of ${issuer} cannot be fetched now; try again later`,
    });
  }
}

/** Discovery (OpenID Connect Discovery 1.0, section 4), again after an hour; the set fetches unknown keys again (RFC 7517). */
function keysOf(issuer: string, clock: () => number): () => Promise<JWTVerifyGetKey> {
  let found: Promise<JWTVerifyGetKey> | undefined;
  let foundAt = 0;
  const rested = resting(clock);
  return () => {
    if (clock() - foundAt >= DISCOVERED_MS) [found, foundAt] = [undefined, clock()];
    found ??= rested(() => discover(issuer, clock)).catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  };
}

/** Runs what is asked, but fails at once for a while after it has failed. */
function resting(clock: () => number): <Answer>(ask: () => Promise<Answer>) => Promise<Answer> {
  let failedAt = Number.NEGATIVE_INFINITY;
  return async (ask) => {
    if (clock() - failedAt < REST_MS) throw new Error('asked a moment ago');
    try {
      return await ask();
    } catch (error) {
      failedAt = clock();
      throw error;
    }
  };
}

async function discover(issuer: string, clock: () => number): Promise<JWTVerifyGetKey> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS), redirect: 'error' });
  const told = (await answer.json()) as { readonly issuer?: unknown; readonly jwks_uri?: unknown };
  if (!answer.ok || told.issuer !== issuer || typeof told.jwks_uri !== 'string' || !isSafe(told.jwks_uri))
    throw new Error(`${url} does not describe ${issuer}`);
  const rested = resting(clock);
  const keys = async (...asked: Parameters<typeof fetch>): Promise<Response> => {
    const given = await fetch(...asked);
    if (given.ok) return given;
    throw new Error(`the keys of ${issuer} were answered with ${given.status}`);
  };
  return createRemoteJWKSet(new URL(told.jwks_uri), {
    timeoutDuration: PATIENCE_MS,
    [customFetch]: (...asked) => rested(() => keys(...asked)),
  });
}

/** Nothing that a stranger wrote into a token is repeated. Undefined if the keys could not be fetched. */
function reasonOf(error: errors.JOSEError): string | undefined {
  if (error instanceof errors.JWTExpired) return 'this token has expired; sign in again';
  if (error instanceof errors.JWTClaimValidationFailed)
    return `this token does not have the right claim ${error.claim}`;
  const isNoAnswer = error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid;
  return isNoAnswer || error.code === 'ERR_JOSE_GENERIC' ? undefined : 'this token is unknown here';
}

/** The texts of a claim: by its name, or else by the path `realm_access.roles`. */
function valuesAt(payload: JWTPayload, name: string): readonly string[] {
  const below = (value: unknown, key: string): unknown =>
    typeof value === 'object' && value !== null && Object.hasOwn(value, key)
      ? (value as Record<string, unknown>)[key]
      : undefined;
  const value = below(payload, name) ?? name.split('.').reduce(below, payload as unknown);
  return [value].flat().filter((one) => typeof one === 'string');
}
