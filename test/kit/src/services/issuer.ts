/** A small OpenID provider with keys of its own: discovery, JWKS, device codes, and authorization codes with PKCE. Everybody is let in at once. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

type Claims = Readonly<Record<string, unknown>>;

export interface Issuer {
  readonly url: string;
  /** The path of each request so far. */
  readonly asked: readonly string[];
  /** A token with these claims beside `iss`, `sub`, `iat` and `exp`, signed with the newest key. */
  token(claims: Claims, head?: Claims): string;
  /** A new key replaces the old one in the JWKS. */
  rotate(): void;
  /** Errors (RFC 8628) that a device gets before its token. */
  readonly deviceErrors: string[];
  /** Answers in place of its own, by path. */
  readonly instead: Map<string, object>;
  close(): Promise<void>;
}

interface Key {
  readonly kid: string;
  readonly secret: KeyObject;
  readonly jwk: object;
}

/** Another origin of the same server: the token endpoint of many issuers is not at their own. */
export const elsewhere = (url: string): string => url.replace('127.0.0.1', 'localhost');

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** `claims`: those of the tokens that the endpoint gives. `clock`: of its tokens, in milliseconds. */
export async function startIssuer(claims: Claims, clock: () => number = Date.now): Promise<Issuer> {
  let key = newKey();
  const asked: string[] = [];
  const deviceErrors: string[] = [];
  const instead = new Map<string, object>();
  /** PKCE challenges, by authorization code. */
  const codes = new Map<string, string>();

  const token = (own: Claims, head: Claims = {}): string => {
    const seconds = Math.floor(clock() / 1000);
    const all = { iss: url, sub: 'ada', iat: seconds, exp: seconds + 300, ...own };
    const signed = `${encoded({ alg: 'ES256', kid: key.kid, ...head })}.${encoded(all)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: key.secret, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  };
  const granted = () => ({ access_token: token(claims), token_type: 'Bearer', expires_in: 300 });
  const answers: Readonly<Record<string, (given: URLSearchParams) => object>> = {
    '/.well-known/openid-configuration': () => ({
      issuer: url,
      jwks_uri: `${url}/keys`,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${elsewhere(url)}/token`,
      device_authorization_endpoint: `${url}/device`,
    }),
    '/keys': () => ({ keys: [key.jwk] }),
    '/device': () => ({
      device_code: 'the-device',
      user_code: 'ABCD-EFGH',
      verification_uri: `${url}/activate`,
      expires_in: 60,
      interval: 0,
    }),
    '/token': (given) => {
      const [grant, code = ''] = [given.get('grant_type'), given.get('code') ?? undefined];
      if (grant === 'authorization_code') {
        const hash = createHash('sha256')
          .update(given.get('code_verifier') ?? '')
          .digest('base64url');
        const isRight = codes.get(code) === hash;
        codes.delete(code);
        return isRight ? granted() : { error: 'invalid_grant' };
      }
      const error = given.get('device_code') === 'the-device' ? deviceErrors.shift() : 'invalid_grant';
      return error === undefined ? granted() : { error };
    },
  };

  const server = createServer(async (request, reply) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://issuer');
    asked.push(pathname);
    reply.setHeader('access-control-allow-origin', '*');
    if (pathname === '/authorize') {
      const code = randomBytes(8).toString('hex');
      codes.set(code, searchParams.get('code_challenge') ?? '');
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.search = new URLSearchParams({ code, state: searchParams.get('state') ?? '' }).toString();
      reply.writeHead(302, { location: back.href }).end();
      return;
    }
    const given = new URLSearchParams(await textOf(request));
    const answer = instead.get(pathname) ?? answers[pathname]?.(given);
    reply.writeHead(answer === undefined ? 404 : 'error' in answer ? 400 : 200, { 'content-type': 'application/json' });
    reply.end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    asked,
    token,
    deviceErrors,
    instead,
    rotate: () => {
      key = newKey();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function newKey(): Key {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const kid = randomBytes(4).toString('hex');
  return { kid, secret: privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' } };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
