/** Sybils by the book: whoever operates the task and the server, with one of the authorities, lets in no device of its own. */
import { join } from 'node:path';
import type { Authority } from '@basa/authority';
import { BasaClient } from '@basa/client/node';
import {
  AuthorityOperator,
  createTask,
  enrolmentHashes,
  newEnrolmentTokens,
  ProblemError,
} from '@basa/client/operator';
import { ServiceProxy } from '@basa/conformance/service-proxy.ts';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { defineModel, dense } from '@basa/learning';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { problemCodeOf } from '@basa/protocol/internal/http/problems.ts';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { TestServices } from '@basa/testkit/services/test-services.ts';
import { OPERATOR_TOKEN } from '@basa/testkit/world/operator.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const OWNERS = [0, 1, 2, 3];
const tokenHash = (token: string): string => toHex(nodeSuite.sha256(Buffer.from(token)));

let services: TestServices;
let task: string;
const authorities: Authority[] = [];
const listed = (of: (authority: Authority) => string): string => authorities.map(of).join(',');

/** The operator of the task and of the server holds a token for tasks of each owner. */
const operator = () =>
  new AuthorityOperator({ url: listed(({ url }) => url), token: OWNERS.map((n) => `tasks-of-${n}`).join(',') });
/** One owner, with its own token. */
const owner = (n: number) => new AuthorityOperator({ url: authorities[n]?.url ?? '', token: `owner-${n}` });

const connect = (name: string, token: string, authority: string) =>
  BasaClient.connect({
    server: services.server.url,
    authority,
    authorityKey: listed(({ publicKey }) => toHex(publicKey)),
    task,
    token,
    identity: join(services.folder, name),
    retry: { attempts: 1 },
    floor: { minimum: 2, noNoise: true },
  });

/** A device of the adversary asks one authority to let it in. */
async function sybilAt(n: number, proof?: string, device = signingDevice()): Promise<string | undefined> {
  const { url, publicKey: audience } = authorities[n] as Authority;
  const target = AUTHORITY_PATH.enrolments(task);
  const body = Buffer.from(JSON.stringify(proof === undefined ? {} : { proof }));
  const signed = device.headers({ audience, method: 'POST', target, body, at: Date.now() });
  const answer = await fetch(url + target, {
    method: 'POST',
    headers: { ...signed, 'content-type': 'application/json' },
    body,
  });
  return answer.ok ? undefined : problemCodeOf(await answer.json());
}

beforeAll(async () => {
  services = await TestServices.open();
  for (const n of OWNERS)
    authorities.push(
      await services.furtherAuthority(`owner-${n}`, 0, [
        { tokenHash: tokenHash(`tasks-of-${n}`), roles: ['tasks'] },
        { tokenHash: tokenHash(`owner-${n}`), roles: ['enrol', 'revoke', 'admin'] },
      ]),
    );
  await services.restartServer({ authorities: authorities.map(({ url, publicKey }) => ({ url, publicKey })) });
  ({ task } = await createTask({
    server: services.server.url,
    operatorToken: OPERATOR_TOKEN,
    authority: listed(({ url }) => url),
    authorityToken: OWNERS.map((n) => `tasks-of-${n}`).join(','),
    model: defineModel('small', { height: 1, width: 1, channels: 3 }, [dense(2)]),
    bufferSize: 3,
    clip: 1,
  }));
});
afterAll(async () => {
  await services.close();
  for (const one of authorities) await one.close();
});

it('an operator with tokens for tasks creates tasks, and lets no device in', async () => {
  const device = signingDevice();
  const refused = async (asked: Promise<unknown>) =>
    expect(((await asked.catch((error: unknown) => error)) as ProblemError).code).toBe('role-missing');
  await refused(operator().tokens(task, 1, Date.now() + 60_000));
  await refused(operator().allow(task, [toHex(device.deviceKey)]));
  await refused(operator().devices(task));
  await refused(operator().revoke('ab'.repeat(32)));
  for (const n of OWNERS) {
    expect(await sybilAt(n, undefined, device)).toBe('enrolment-token-invalid');
    expect(await sybilAt(n, toHex(nodeRandomBytes(32)), device)).toBe('enrolment-token-invalid');
  }
});

it('a token that one authority saw lets nobody in at the others, and its own device is let in by all', async () => {
  const [token = ''] = newEnrolmentTokens(1);
  for (const n of OWNERS) await owner(n).register(task, (key) => enrolmentHashes([token], key), Date.now() + 60_000);
  const colluder = await ServiceProxy.before(() => authorities[0]?.url ?? '');
  const seen: string[] = [];
  colluder.onAsk = async ({ path, body }) => {
    if (!path.endsWith('/enrolments')) return undefined;
    const { proof } = JSON.parse(Buffer.from(body).toString()) as { proof: string };
    seen.push(proof);
    for (const n of [1, 2, 3]) expect(await sybilAt(n, proof)).toBe('enrolment-token-invalid');
    return undefined;
  };
  const client = await connect('victim', token, [colluder.url, ...authorities.slice(1).map(({ url }) => url)].join());
  await client.close();
  expect(seen).toHaveLength(1);
  expect(seen[0]).not.toBe(token);
  for (const n of [1, 2, 3]) {
    expect(await owner(n).devices(task)).toHaveLength(1);
    expect(await sybilAt(n, seen[0])).toBe('enrolment-token-invalid');
  }
  await colluder.close();
});

it('a device that one owner lets in alone has no certificate', async () => {
  const [token = ''] = newEnrolmentTokens(1);
  await owner(0).register(task, (key) => enrolmentHashes([token], key), Date.now() + 60_000);
  const alone = connect(
    'of-one-owner',
    token,
    listed(({ url }) => url),
  );
  await expect(alone).rejects.toThrow(ProblemError);
});

it('an owner with nothing but its own token sees how many devices each other owner let in', async () => {
  const before = await owner(0).devices(task);
  const sybils = [signingDevice(), signingDevice()];
  await owner(3).allow(
    task,
    sybils.map(({ deviceKey }) => toHex(deviceKey)),
  );
  for (const sybil of sybils) expect(await sybilAt(3, undefined, sybil)).toBeUndefined();
  await owner(3).revoke((await owner(3).devices(task))[0]?.user ?? '');
  const environment = { BASA_AUTHORITY: listed(({ url }) => url), BASA_AUTHORITY_TOKEN: 'owner-0,,,' };
  const told = await basaHere(['device', 'list', '--json'], environment);
  const by = authorities.map(({ url }, n) => ({ authority: url, devices: n === 0 ? before.length : n === 3 ? 2 : 1 }));
  expect(lastLine(told.out)).toMatchObject({ letIn: [{ task, by }] });
  expect((lastLine(told.out) as { devices: unknown[] }).devices).toHaveLength(before.length);
  const shown = (await basaHere(['device', 'list'], environment)).out;
  // It changes only its own authority.
  const device = signingDevice();
  const key = toHex(device.deviceKey);
  const allowed = await basaHere(['keys', 'enroll', '--task', task, '--device-key', key], environment);
  expect([allowed.code, allowed.errors]).toEqual([0, '']);
  expect(await sybilAt(0, undefined, device)).toBeUndefined();
  expect(await sybilAt(1, undefined, device)).toBe('enrolment-token-invalid');
  expect(shown).toContain(by.map(({ authority, devices }) => `${devices} at ${authority}`).join(', '));
});
