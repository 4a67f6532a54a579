/** The key of a server is stolen: the thief makes a version that has no model, and the task goes on with the next key of the server. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Authority, verifyLog } from '@basa/authority';
import type { BasaClient } from '@basa/client/node';
import { AuthorityOperator, tokenForAll } from '@basa/client/operator';
import { ServiceProxy } from '@basa/conformance/service-proxy.ts';
import { WHOLE_STEP } from '@basa/conformance/whole-step.ts';
import { fromHex, toHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  agreedOn,
  ENGINE,
  encodePolicy,
  modelAppendCodec,
  modelEntryCodec,
  ONE_SHOT_DEFAULTS,
  SERVER_PATH,
  type TaskId,
  type TaskPolicy,
} from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { OPERATOR_TOKEN, operate, TestServices, testPolicy, until } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const WAIT_MS = 5000;
const K = 3;

let folder: string;
let services: TestServices;
let others: readonly Authority[];
let proxies: readonly ServiceProxy[];
let policy: TaskPolicy;
let task: string;
let devices: readonly BasaClient[];
let nextSigningKey: Uint8Array;
const file = (name: string): string => join(folder, name);
const bytesIn = (path: string): Uint8Array => fromHex(readFileSync(path, 'utf8').trim()) ?? new Uint8Array();
const all = (): readonly Authority[] => [services.authority, ...others];
const urls = (): string =>
  all()
    .map(({ url }) => url)
    .join();

async function type(...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const environment = {
    BASA_SERVER: services.server.url,
    BASA_AUTHORITY: urls(),
    BASA_AUTHORITY_TOKEN: tokenForAll(urls(), OPERATOR_TOKEN),
  };
  const { code, out, errors } = await basaHere(['succession', ...args, '--json'], environment);
  if (code !== 0) throw new Error(errors);
  return lastLine(out);
}

const serverWith = (more: object) => ({
  authorities: proxies.map(({ url }, n) => ({ url, publicKey: all()[n]?.publicKey as Uint8Array })),
  ...more,
});

async function put(url: string, method: string, path: string, body: Uint8Array): Promise<Uint8Array> {
  const headers = { 'content-type': 'application/octet-stream' };
  const answer = await fetch(new URL(path, url), { method, headers, body: body.slice() });
  if (!answer.ok) throw new Error(await answer.text());
  return new Uint8Array(await answer.arrayBuffer());
}

/** The thief is faster than the server: the version names the server's sum, and a hash that no model has. */
async function stolen(asked: Uint8Array): Promise<void> {
  const key = createNodeSigner(bytesIn(join(services.folder, 'server', 'server.key')));
  const { signature: _, ...body } = { ...modelAppendCodec.decode(asked), modelHash: new Uint8Array(32).fill(7) };
  const append = modelAppendCodec.encode({ ...body, signature: key.sign(modelAppendCodec.statement(body)) });
  const path = AUTHORITY_PATH.modelLog(body.task);
  const parts = await Promise.all(all().map(({ url }) => put(url, 'POST', path, append)));
  const entry = agreedOn(modelEntryCodec, policy, parts.map(modelEntryCodec.decode));
  if (entry === undefined) throw new Error('the authorities signed different versions');
  const shown = modelEntryCodec.encode(entry);
  await Promise.all(all().map(({ url }) => put(url, 'PUT', AUTHORITY_PATH.adoptedModel(body.task), shown)));
}

/** A device gives an update on the newest version. */
async function contributed(device: BasaClient, n: number): Promise<string> {
  const { version, parameters } = await device.model();
  const delta = Float32Array.from(parameters, (_, at) => (at === n ? 1 : 0.5 / (version + 1)));
  const ended = await device.contribute(delta, { trainedOn: version });
  return ended.kind === 'rejected' ? ended.reason : ended.kind;
}

describe.each([
  ['with slots', {}],
  ['in the one-shot mode', { engine: ENGINE.oneShot, oneShot: { ...ONE_SHOT_DEFAULTS, tolerated: 1 } }],
])('the key of a server that was stolen, %s,', (_, mode) => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'basa-stolen-'));
    for (const name of ['recovery', 'next'])
      expect((await basaHere(['succession', 'key', '--out', file(name)], {})).code).toBe(0);
    nextSigningKey = bytesIn(file('next'));
    services = await TestServices.open();
    others = await Promise.all(
      [1, 2, 3].map((n) => {
        const keyFile = join(services.folder, `authority-${n}.key`);
        writeFileSync(keyFile, nodeRandomBytes(32));
        return services.furtherAuthority(`authority-${n}`);
      }),
    );
    proxies = await Promise.all(all().map(({ url }) => ServiceProxy.before(() => url)));
    await services.restartServer(serverWith({}));
    const succession = { waitMs: WAIT_MS, recoveryHash: nodeSuite.sha256(bytesIn(file('recovery.pub'))) };
    const keys = { serverKey: services.server.publicKey, authorityKeys: all().map(({ publicKey }) => publicKey) };
    policy = { ...testPolicy(keys), threshold: 3, bufferSize: K, minimum: K, ...mode, succession };
    const bytes = encodePolicy(policy);
    for (const { url } of all()) ({ task } = await operate<{ task: string }>(url, 'POST', AUTHORITY_PATH.tasks, bytes));
    await operate(services.server.url, 'POST', SERVER_PATH.tasks, { policy: toHex(bytes), serverStep: WHOLE_STEP });
    const operator = new AuthorityOperator({ url: urls(), token: tokenForAll(urls(), OPERATOR_TOKEN) });
    const tokens = await operator.tokens(task, K, Date.now() + 3_600_000);
    const authorityKey = keys.authorityKeys.map(toHex).join();
    const options = { task, authority: urls(), authorityKey, retry: { attempts: 2, firstWaitMs: 10 } };
    devices = await Promise.all(
      tokens.map((token, n) => services.client(`${n}`, { ...options, ...(token !== undefined && { token }) })),
    );
  });
  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await services.close();
    await Promise.all(others.map((one) => one.close()));
  });

  it('is replaced, and the next sum makes a version', async () => {
    let theft: Promise<void> | undefined;
    const path = AUTHORITY_PATH.modelLog(fromHex(task) as TaskId);
    for (const proxy of proxies)
      proxy.onAsk = async (asked) => {
        if (asked.method !== 'POST' || asked.path !== path) return undefined;
        theft ??= stolen(asked.body);
        await theft;
        return undefined;
      };
    expect(await Promise.all(devices.map(contributed))).toEqual(Array(K).fill('accepted'));
    const isRefused = ({ passed }: ServiceProxy): boolean =>
      passed.some(({ asked, answer }) => asked.path === path && Buffer.from(answer.body).includes('other-model'));
    await until(() => proxies.every(isRefused));
    expect((await services.taskState(task)).version).toBe(0);

    await services.restartServer(serverWith({ nextSigningKey }));
    const out = file('term');
    await type('propose', task, '--seat', 'server', '--server-key', file('next'), '--effective', '10s', '--out', out);
    await type('publish', '--term', out);
    // Devices that hear nothing for too long would need the hash of the term.
    await until(async () => {
      await Promise.all(all().map((one) => one.tick()));
      const known = await Promise.all(devices.map((device) => device.model().catch(() => undefined)));
      return known.every((model) => model?.version === 2);
    });
    // At the switch, a device may find no statements of its term for a moment.
    const isAccepted = (device: BasaClient, n: number): Promise<boolean> =>
      contributed(device, n).then(
        (kind) => kind === 'accepted',
        () => false,
      );
    await Promise.all(devices.map((device, n) => until(() => isAccepted(device, n))));
    const trained = await services.reached(3, task);
    expect(await services.reached(2, task)).toEqual(await services.reached(0, task));
    expect(trained).not.toEqual(await services.reached(2, task));
    const unknown = await fetch(new URL(SERVER_PATH.model(task, 1), services.server.url));
    expect(unknown.status).toBe(404);
    const { versions } = await operate<{ versions: readonly { version: number; sums: readonly string[] }[] }>(
      services.server.url,
      'GET',
      SERVER_PATH.taskMetrics(task),
    );
    expect(versions.map(({ version, sums }) => [version, sums.length])).toEqual([
      [0, 0],
      [2, 0],
      [3, 1],
    ]);
    await until(async () => (await services.taskState(task)).buffers === 0);
    const operator = new AuthorityOperator({ url: urls(), token: tokenForAll(urls(), OPERATOR_TOKEN) });
    for (const [n, log] of (await operator.logs()).entries())
      expect(verifyLog(log, all()[n]?.publicKey as Uint8Array)).toMatchObject({ isGood: true });
  });
});
