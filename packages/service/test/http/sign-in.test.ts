/** Operators by tokens of an issuer: a real one, in this process. */
import { createHmac } from 'node:crypto';
import { type Issuer, startIssuer } from '@basa/testkit/services/issuer.ts';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { checkIssuer } from '../../src/http/sign-in.ts';
import { codeOf, NOW, serviceWith, token } from './test-service.ts';

const DISCOVERY = '/.well-known/openid-configuration';
const AUDIENCE = 'https://basa.example.org';
let now = NOW;
let issuer: Issuer;

beforeEach(async () => {
  now = NOW;
  issuer = await startIssuer({}, () => now);
});
afterEach(async () => {
  vi.useRealTimers();
  await issuer.close();
});

async function askWith(more: object = {}) {
  const roles = { 'basa-operators': ['operator' as const], 'basa-auditors': ['auditor' as const] };
  const known = {
    issuer: issuer.url,
    audience: AUDIENCE,
    clientId: 'basa',
    scope: 'openid',
    rolesClaim: 'groups',
    origins: [],
  };
  const lines: string[] = [];
  const { app } = await serviceWith({
    clock: () => now,
    signIn: { ...known, roles, ...more },
    log: { level: 'info', stream: { write: (line) => void lines.push(line) } },
  });
  const ask = async (bearer: string, url = '/v1/staff') => {
    const answer = await app.inject({ url, headers: { authorization: `Bearer ${bearer}` } });
    return answer.statusCode === 200 ? answer.json() : [codeOf(answer), answer.json().detail];
  };
  return { ask, lines };
}

const operator = { aud: AUDIENCE, groups: ['basa-operators', 'others'] };

it('a token of the issuer has the roles of its groups, beside tokens of the configuration; the log names its owner', async () => {
  const { ask, lines } = await askWith();
  expect(await ask(issuer.token(operator))).toEqual({});
  expect(await ask(issuer.token(operator), '/v1/roles')).toEqual({ roles: ['operator'] });
  expect(await ask(issuer.token({ ...operator, groups: 'basa-auditors' }))).toEqual([
    'role-missing',
    expect.anything(),
  ]);
  for (const groups of [
    undefined,
    [],
    ['__proto__'],
    ['constructor'],
    [['basa-operators']],
    7,
    { 0: 'basa-operators' },
  ])
    expect(await ask(issuer.token({ ...operator, groups }), '/v1/roles')).toEqual({ roles: [] });
  expect(await ask(token)).toEqual({});
  expect(lines.join('')).toContain('"operator":"ada"');
  expect(lines.join('')).not.toContain(issuer.token(operator).slice(0, 40));
  expect(issuer.asked).toEqual([DISCOVERY, '/keys']);
});

it('reads roles at a path of the claims, as Keycloak writes them', async () => {
  const { ask } = await askWith({ rolesClaim: 'realm_access.roles' });
  const claims = { aud: ['other', AUDIENCE], realm_access: { roles: ['basa-operators'] } };
  expect(await ask(issuer.token(claims))).toEqual({});
});

it.each([
  ['for another audience', () => issuer.token({ ...operator, aud: 'another' }), 'the right claim aud'],
  ['for no audience', () => issuer.token({ ...operator, aud: undefined }), 'the right claim aud'],
  ['of another issuer', () => issuer.token({ ...operator, iss: 'https://evil.example' }), 'the right claim iss'],
  ['without an issuer', () => issuer.token({ ...operator, iss: undefined }), 'the right claim iss'],
  ['that has expired', () => issuer.token({ ...operator, exp: NOW / 1000 - 31 }), 'expired'],
  ['that never expires', () => issuer.token({ ...operator, exp: undefined }), 'the right claim exp'],
  ['that is not valid yet', () => issuer.token({ ...operator, nbf: NOW / 1000 + 60 }), 'the right claim nbf'],
  ['older than a day', () => issuer.token({ ...operator, iat: NOW / 1000 - 86_500 }), 'expired'],
  ['of nobody', () => issuer.token({ ...operator, sub: undefined }), 'the right claim sub'],
  ['with alg none', () => `${headOf({ alg: 'none' })}.${issuer.token(operator).split('.')[1]}.`, 'unknown here'],
  ['with a shared secret', () => withSharedSecret(issuer.token(operator)), 'unknown here'],
  ['with a changed claim', () => changed(issuer.token(operator)), 'unknown here'],
  ['with an unknown key', () => issuer.token(operator, { kid: 'another' }), 'unknown here'],
  ['with an unknown critical header', () => issuer.token(operator, { crit: ['x'], x: 1 }), 'unknown here'],
])('a token %s is refused', async (_, make, why) => {
  const { ask } = await askWith();
  expect(await ask(issuer.token(operator))).toEqual({});
  expect(await ask(make())).toEqual(['operator-token-missing', expect.stringContaining(why)]);
});

function headOf(head: object): string {
  return Buffer.from(JSON.stringify(head)).toString('base64url');
}

function withSharedSecret(real: string): string {
  const signed = `${headOf({ alg: 'HS256' })}.${real.split('.')[1]}`;
  return `${signed}.${createHmac('sha256', issuer.url).update(signed).digest('base64url')}`;
}

function changed(real: string): string {
  const [head, claims = '', signature] = real.split('.');
  const read = JSON.parse(Buffer.from(claims, 'base64url').toString());
  return `${head}.${headOf({ ...read, sub: 'eve' })}.${signature}`;
}

it('takes tokens of a new key, and from then on none of the key that the issuer removed', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  const { ask } = await askWith();
  const old = issuer.token(operator);
  expect(await ask(old)).toEqual({});
  issuer.rotate();
  vi.setSystemTime(NOW + 31_000); // an unknown key is asked for at most every 30 s
  expect(await ask(issuer.token(operator))).toEqual({});
  expect(await ask(old)).toEqual(['operator-token-missing', 'this token is unknown here']);
});

it('forgets a key that the issuer removed within ten minutes, even without a token of a new key', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  const { ask } = await askWith();
  const old = issuer.token({ ...operator, exp: NOW / 1000 + 3600 });
  expect(await ask(old)).toEqual({});
  issuer.rotate();
  vi.setSystemTime(NOW + 600_000);
  expect(await ask(old)).toEqual(['operator-token-missing', 'this token is unknown here']);
});

it.each(['http://login.example.org', 'https://', 'http://localhost.example.org'])(
  'an issuer at %s is refused',
  (address) => {
    expect(() => checkIssuer({ issuer: address, origins: [] })).toThrow('must begin with https://');
    expect(() => checkIssuer({ issuer: issuer.url, origins: [address] })).toThrow('must begin with https://');
  },
);

it('follows an issuer whose keys have moved within the hour', async () => {
  const { ask } = await askWith();
  expect(await ask(issuer.token(operator))).toEqual({});
  const moved = { issuer: issuer.url, jwks_uri: `${issuer.url}/moved` };
  issuer.instead.set(DISCOVERY, moved);
  issuer.instead.set('/keys', { keys: [] });
  now += 3_600_000;
  await ask(issuer.token(operator));
  expect(issuer.asked).toEqual([DISCOVERY, '/keys', DISCOVERY, '/moved']);
});

it('without an answer of the issuer says so, asks it again only later, and still takes tokens of the configuration', async () => {
  const { ask } = await askWith({ issuer: `${issuer.url}/elsewhere` });
  const cannot = ['operator-token-missing', expect.stringContaining('cannot be fetched now')];
  for (let n = 0; n < 5; n++) expect(await ask(issuer.token(operator))).toEqual(cannot);
  expect(issuer.asked).toHaveLength(1);
  expect(await ask(token)).toEqual({});
  now += 5000;
  expect(await ask(issuer.token(operator))).toEqual(cannot);
  expect(issuer.asked).toHaveLength(2);
});

it('asks for keys that it cannot get again only later, and takes tokens of those that it has meanwhile', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  const { ask } = await askWith();
  const cannot = ['operator-token-missing', expect.stringContaining('cannot be fetched now')];
  issuer.instead.set('/keys', { error: 'down' });
  for (let n = 0; n < 5; n++) expect(await ask(issuer.token(operator))).toEqual(cannot);
  expect(issuer.asked).toEqual([DISCOVERY, '/keys']);
  issuer.instead.clear();
  now += 5000;
  expect(await ask(issuer.token(operator))).toEqual({});
  issuer.instead.set('/keys', { error: 'down' });
  vi.setSystemTime(NOW + 31_000);
  for (let n = 0; n < 5; n++) expect(await ask(issuer.token(operator, { kid: 'made up' }))).toEqual(cannot);
  expect(await ask(issuer.token(operator))).toEqual({});
  expect(issuer.asked).toEqual([DISCOVERY, '/keys', '/keys', '/keys']);
});

it.each([
  ['describes another issuer', () => ({ issuer: 'https://evil.example', jwks_uri: `${issuer.url}/keys` })],
  [
    'has its keys where others can change them',
    // By Linux this is an address of this machine, where the keys are; by us it is none.
    () => ({ issuer: issuer.url, jwks_uri: `${issuer.url.replace('127.0.0.1', '0.0.0.0')}/keys` }),
  ],
  ['has no keys', () => ({ issuer: issuer.url })],
])('an issuer that %s is not believed', async (_, described) => {
  issuer.instead.set(DISCOVERY, described());
  const { ask } = await askWith();
  expect(await ask(issuer.token(operator))).toEqual([
    'operator-token-missing',
    expect.stringContaining('cannot be fetched now'),
  ]);
  expect(issuer.asked).toEqual([DISCOVERY]);
});

it('a service without an issuer refuses every signed token', async () => {
  const { app } = await serviceWith();
  const headers = { authorization: `Bearer ${issuer.token(operator)}` };
  expect(codeOf(await app.inject({ url: '/v1/staff', headers }))).toBe('operator-token-missing');
  expect(issuer.asked).toEqual([]);
});
