/** The commands of succession against services, and colleagues, that lie about a term. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ascii, fromHex, ring, type Signer, toHex } from '@basa/masking';
import {
  acceptTerm,
  currentHash,
  ENGINE,
  endorseTerm,
  lineCodec,
  millis,
  POLICY_DEFAULTS,
  type TaskPolicy,
  type Term,
  type TermBody,
  taskIdOf,
  termCodec,
  termHashOf,
} from '@basa/protocol';
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { basaHere } from '@basa/testkit/programs/basa.ts';
import { afterEach, expect, it } from 'vitest';
import { successionOf } from '../src/flags/succession.ts';
import { type FakeService, fakeService } from './support/fake-service.ts';

const WAIT_MS = 7 * 24 * 3_600_000;
const secretOf = (n: number): Uint8Array => new Uint8Array(32).fill(n);
const signer = (n: number): Signer => createNodeSigner(secretOf(n));
const [RECOVERY, SERVER, NEXT, THIEF] = [200, 201, 50, 66];
const policy = {
  ...POLICY_DEFAULTS,
  name: ascii('terms'),
  authorities: [1, 2, 3, 4].map((n) => signer(n).publicKey),
  threshold: 3,
  engine: ENGINE.slotKeys,
  bufferSize: 4,
  minimum: 3,
  dimension: 8,
  modulus: ring(32),
  level: 1024,
  clip: 1,
  staleness: { kind: 'constant' },
  maxStaleness: 15,
  manifestHash: new Uint8Array(32),
  serverKey: signer(SERVER).publicKey,
  uploadLeaseMs: 1000,
  openMs: 1000,
  closeMs: 1000,
  succession: { waitMs: WAIT_MS, recoveryHash: nodeSuite.sha256(signer(RECOVERY).publicKey) },
} as TaskPolicy;
const task = toHex(taskIdOf(nodeSuite, policy));

/** Accepted by its new key, and not signed yet. */
function termFor(key: Signer, more: Partial<TermBody> = {}): Term {
  const body: TermBody = {
    task: taskIdOf(nodeSuite, policy),
    number: 1,
    previous: currentHash(nodeSuite, policy),
    seat: 0,
    key: key.publicKey,
    address: 'https://new.example',
    last: undefined,
    effective: millis(Date.now() + 2 * WAIT_MS),
    ...more,
  };
  return { ...body, accepted: acceptTerm(nodeSuite, key, body), recovery: undefined, endorsements: [] };
}
const hashOf = (term: Term): string => toHex(termHashOf(nodeSuite, term));

const folder = mkdtempSync(join(tmpdir(), 'basa-succession-test-'));
const file = (name: string): string => join(folder, name);
function kept(name: string, text: string): string {
  writeFileSync(file(name), `${text}\n`);
  return file(name);
}
const keptTerm = (term: Term): string => kept('term.hex', toHex(termCodec.encode(term)));
const termIn = (path: string): Term => termCodec.decode(fromHex(readFileSync(path, 'utf8').trim()) ?? new Uint8Array());

const opened: FakeService[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});
async function opening(service: Promise<FakeService>): Promise<FakeService> {
  const one = await service;
  opened.push(one);
  return one;
}
const server = () => opening(fakeService((path) => (path.endsWith('/line') ? lineOf() : { tasks: [] })));
const lineOf = (): Uint8Array => lineCodec.encode({ policy, terms: [] });
/** It signs `change(term)` in place of the term that it is asked to sign. */
const authority = (n: number, change = (term: Term): Term => term) =>
  opening(
    fakeService((path, method, body) => {
      if (path.endsWith('/line')) return method === 'GET' ? lineOf() : { task };
      if (!path.includes('/terms')) return { publicKey: toHex(signer(n).publicKey), head: '' };
      return termCodec.encode(endorseTerm(policy, signer(n), change(termCodec.decode(body))));
    }),
  );
const type = (...args: readonly string[]) => basaHere(['succession', ...args], { BASA_AUTHORITY_TOKEN: 'token' });

it('`propose` refuses an authority that answers with another key', async () => {
  const { url } = await server();
  const next = kept('next.key', toHex(secretOf(NEXT)));
  const propose = ['propose', task, '--seat', 'server', '--server-key', next, '--server', url, '--out', file('out')];
  const liar = await authority(2, (term) => termFor(signer(THIEF), { seat: term.seat, address: term.address }));
  const deceived = await type(...propose, '--authority', liar.url);
  expect(deceived).toMatchObject({ code: 8, errors: expect.stringContaining('another term than the one to sign') });
  expect(() => readFileSync(file('out'))).toThrow('ENOENT');

  const honest = await authority(2);
  const { code, out } = await type(...propose, '--authority', honest.url);
  expect(code).toBe(0);
  expect(out).toContain(toHex(signer(NEXT).publicKey));
  expect(out).toContain(hashOf(termIn(file('out'))));
});

const term = termFor(signer(NEXT));
const forged = termFor(signer(THIEF), { effective: term.effective });
const recoveryKey = kept('recovery.key', toHex(secretOf(RECOVERY)));

it.each([
  ['sign', ['--authority']],
  ['recover', ['--recovery-key', recoveryKey]],
])('`%s` shows the term, and signs it only with its hash', async (name, more) => {
  const own = await authority(3);
  const words = more.length === 1 ? [...more, own.url] : more;
  const path = keptTerm(forged);
  const before = readFileSync(path);
  for (const hash of [[], ['--hash', hashOf(term)]]) {
    const refused = await type(name, '--term', path, ...words, ...hash);
    expect(refused).toMatchObject({ code: 2, errors: expect.stringContaining('the term was not signed') });
    for (const shown of [toHex(forged.key), `task ${task}`, 'seat 0', 'https://new.example'])
      expect(refused.out).toContain(shown);
    expect(refused.out + refused.errors).not.toContain(hashOf(forged)); // it must come from another person
    expect(readFileSync(path)).toEqual(before);
  }
  expect(own.asked.filter(({ request }) => request.startsWith('POST'))).toEqual([]);

  const { code, out } = await type(name, '--term', keptTerm(term), ...words, '--hash', hashOf(term).toUpperCase());
  expect([code, out.includes(toHex(policy.authorities[0] ?? new Uint8Array()))]).toEqual([0, name === 'sign']);
  const signed = termIn(path);
  expect([signed.endorsements.length, signed.recovery === undefined]).toEqual(name === 'sign' ? [1, true] : [0, false]);
});

it('`publish` sends no token to an authority, and one token is not sent to several', async () => {
  const [own, other, { url }] = [await authority(3), await authority(4), await server()];
  const all = ['--authority', `${own.url},${other.url}`];
  const published = await type('publish', '--term', keptTerm(term), '--server', url, ...all);
  expect(published.code).toBe(0);
  const refused = await type('sign', '--term', keptTerm(term), '--hash', hashOf(term), ...all);
  expect(refused).toMatchObject({ code: 2, errors: expect.stringContaining('give one token for each authority') });
  const put = { request: `PUT /v1/tasks/${task}/line`, token: undefined };
  expect([own.asked, other.asked]).toEqual([[put], [put]]);
});

it('`sign` does not send the token of the server to an authority', async () => {
  const own = await authority(3);
  const sign = ['sign', '--term', keptTerm(term), '--hash', hashOf(term), '--authority', own.url];
  const { code, errors } = await basaHere(['succession', ...sign], { BASA_OPERATOR_TOKEN: "the server's" });
  expect([code, errors, own.asked]).toEqual([2, expect.stringContaining('--authority-token is missing'), []]);

  await type(...sign);
  const path = `/v1/tasks/${task}`;
  expect(own.asked).toEqual([
    { request: `GET ${path}/line`, token: undefined },
    { request: `POST ${path}/terms`, token: 'token' },
  ]);
});

it('`key` overwrites no file', async () => {
  const out = file('once.key');
  expect((await type('key', '--out', out)).code).toBe(0);
  const [secret, open] = [readFileSync(out, 'utf8'), readFileSync(`${out}.pub`, 'utf8')];
  const again = await type('key', '--out', out);
  expect(again).toMatchObject({ code: 2, errors: expect.stringContaining('file already exists') });
  expect([readFileSync(out, 'utf8'), readFileSync(`${out}.pub`, 'utf8')]).toEqual([secret, open]);
  const empty = kept('readable.key', '');
  expect((await type('key', '--out', empty)).code).toBe(2);
  expect(readFileSync(empty, 'utf8')).toBe('\n');
  const other = kept('other.key.pub', 'public');
  expect((await type('key', '--out', file('other.key'))).code).toBe(2);
  expect(readFileSync(other, 'utf8')).toBe('public\n');
});

it('takes no public key for a secret one, and no secret key for a public one', async () => {
  const path = keptTerm(term);
  const before = readFileSync(path);
  const swapped = kept('recovery.key.pub', toHex(signer(RECOVERY).publicKey));
  const refused = await type('recover', '--term', path, '--hash', hashOf(term), '--recovery-key', swapped);
  expect(refused).toMatchObject({ code: 2, errors: expect.stringContaining('takes the secret key') });
  expect(readFileSync(path)).toEqual(before);
  const created = successionOf({ 'succession-wait': WAIT_MS, 'recovery-key': recoveryKey });
  await expect(created).rejects.toThrow('takes the public key');
});

it('an address in a term cannot hide the lines above it', async () => {
  const path = keptTerm(termFor(signer(THIEF), { address: 'https://x\x1b[2A\rnew key: y' }));
  const { out } = await type('recover', '--term', path, '--recovery-key', recoveryKey);
  expect(out).not.toContain('\x1b');
});
