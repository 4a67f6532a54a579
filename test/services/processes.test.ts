/** Both services as real processes: a batch that outlives a killed server and a killed authority, clean stops, and starts that fail in one line. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BasaClient } from '@basa/client/node';
import { ServiceProxy } from '@basa/conformance/service-proxy.ts';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, SERVER_PATH } from '@basa/protocol/http';
import { TaskPolicy } from '@basa/protocol/policy';
import { InspectAnswer } from '@basa/protocol/wire';
import { bundledServices } from '@basa/testkit/processes/bundle.ts';
import { type Running, startProgram } from '@basa/testkit/processes/start.ts';
import { filesBelow } from '@basa/testkit/services/snapshot.ts';
import { countsOf, newToken, oneHot, READER, testPolicy, until } from '@basa/testkit/services/test-services.ts';
import { OPERATOR_TOKEN, OPERATORS } from '@basa/testkit/world/operator.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const bundle = await bundledServices();
const startServer = (config: string): Running => startProgram(bundle.file('server'), [config]);
const startAuthority = (config: string, environment = {}): Running =>
  startProgram(bundle.file('authority'), [config], environment);

async function urlOf(service: Running): Promise<string> {
  return /listening at (\S+)/.exec(await service.said('listening at http'))?.[1] ?? '';
}

async function killed({ child, ended }: Running): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

const folder = mkdtempSync(join(tmpdir(), 'basa-processes-'));
const PASSPHRASE = { BASA_AUTHORITY_PASSPHRASE: 'a passphrase of the tests' };
const QUIET = { logLevel: 'silent', tickMs: 50 };
const tokensOf = (...roles: readonly string[]) => [{ tokenHash: OPERATORS[0].tokenHash, roles }];
let authority: Running;
let server: Running;
let urls: { authority: string; server: string };
let keys: { authority: Uint8Array; server: Uint8Array };

function configured(name: string, config: object): string {
  const path = join(folder, `${name}-${Math.random()}.json`);
  writeFileSync(path, JSON.stringify(config));
  return path;
}

const authorityConfig = (more: object = {}) =>
  configured('authority', {
    dataFolder: join(folder, 'authority'),
    port: 0,
    ...QUIET,
    operators: tokensOf('tasks', 'enrol', 'revoke', 'admin'),
    ...more,
  });
const serverConfig = (more: object = {}) =>
  configured('server', {
    dataFolder: join(folder, 'server'),
    port: 0,
    authorityUrl: urls.authority,
    authorityKey: toHex(keys.authority),
    ...QUIET,
    operators: tokensOf('operator', 'auditor'),
    ...more,
  });

async function ask<T>(url: string, path: string, body?: object): Promise<T> {
  const isBytes = body instanceof Uint8Array;
  const response = await fetch(new URL(path, url), {
    headers: {
      authorization: `Bearer ${OPERATOR_TOKEN}`,
      ...(body && { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' }),
    },
    ...(body && { method: 'POST', body: isBytes ? body.slice() : JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as T;
}

const keyAt = async (url: string, path: string): Promise<Uint8Array> =>
  new Uint8Array(Buffer.from((await ask<{ publicKey: string }>(url, path)).publicKey, 'hex'));

beforeAll(async () => {
  authority = startAuthority(authorityConfig(), PASSPHRASE);
  urls = { authority: await urlOf(authority), server: '' };
  keys = { authority: await keyAt(urls.authority, AUTHORITY_PATH.about), server: new Uint8Array() };
  server = startServer(serverConfig());
  urls.server = await urlOf(server);
  keys.server = await keyAt(urls.server, SERVER_PATH.about);
});
afterAll(async () => {
  await killed(server);
  await killed(authority);
});

/** A new task of a server, and its first three devices. */
async function threeDevices(at: Running, serverKey: Uint8Array) {
  const url = await urlOf(at);
  const policy = TaskPolicy.encode(testPolicy({ serverKey, authorityKeys: [keys.authority] }));
  const { task } = await ask<{ task: string }>(urls.authority, AUTHORITY_PATH.tasks, policy);
  await ask(url, SERVER_PATH.tasks, { policy: toHex(policy) });
  const authorityAt = { url: urls.authority, publicKey: keys.authority };
  const tokens = await Promise.all([0, 1, 2].map(() => newToken(authorityAt, task)));
  const clients = await Promise.all(
    tokens.map((token, n) =>
      BasaClient.connect({
        server: url,
        authority: urls.authority,
        task,
        token,
        authorityKey: toHex(keys.authority),
        identity: join(folder, `device-${task.slice(0, 8)}-${n}`),
        pieceBytes: 20,
        floor: { minimum: 2, noNoise: true },
        retry: { attempts: 1, timeoutMs: 60_000 },
      }),
    ),
  );
  return { task, clients };
}

async function reached(url: string, task: string, version: number): Promise<void> {
  await until(async () => (await ask<{ version?: number }>(url, SERVER_PATH.task(task))).version === version);
}

it('a server killed in the middle of uploads goes on with them, and counts every update once', async () => {
  const { task, clients } = await threeDevices(server, keys.server);
  const port = Number(new URL(urls.server).port);
  try {
    const [a, b, c] = clients as [BasaClient, BasaClient, BasaClient];
    expect(await a.contribute(oneHot(0), { trainedOn: 0 })).toMatchObject({ kind: 'accepted' });
    for (const [client, place, isNow] of [
      [b, 1, (sent: number) => sent === 0],
      [c, 2, (sent: number) => sent > 0],
    ] as const) {
      let death: Promise<void> | undefined;
      const off = client.on('progress', ({ step, sent = 0 }) => {
        if (step === 'upload' && isNow(sent)) death ??= killed(server);
      });
      await expect(client.contribute(oneHot(place), { trainedOn: 0 })).rejects.toThrow('does not answer');
      off();
      await death;
      server = startServer(serverConfig({ port }));
      await urlOf(server);
      expect(await client.resume()).toMatchObject({ kind: 'accepted' });
    }
    await reached(urls.server, task, 1);
    const model = await (
      await fetch(new URL(SERVER_PATH.model(task, 1), urls.server), { headers: READER })
    ).arrayBuffer();
    expect(countsOf(new Float32Array(model), 3)).toEqual([1, 1, 1, 0, 0, 0, 0, 0]);
  } finally {
    for (const client of clients) await client.close();
  }
});

it('an authority killed right after its vote knows the batch of each upload again, and votes for it again', async () => {
  const proxy = await ServiceProxy.before(() => urls.authority);
  const behind = startServer(serverConfig({ dataFolder: join(folder, 'behind'), authorityUrl: proxy.url }));
  const url = await urlOf(behind);
  const { task, clients } = await threeDevices(behind, await keyAt(url, SERVER_PATH.about));
  let death: Promise<void> | undefined;
  proxy.onAnswer = ({ path }, answer) => {
    if (path !== AUTHORITY_PATH.batchVotes(task)) return answer;
    death ??= killed(authority);
    return 'cut';
  };
  try {
    for (const [n, client] of clients.entries())
      expect(await client.contribute(oneHot(n), { trainedOn: 0 })).toMatchObject({ kind: 'accepted' });
    await until(() => death !== undefined);
    await death;
    proxy.behave();
    const { port } = new URL(urls.authority);
    authority = startAuthority(authorityConfig({ port: Number(port) }), PASSPHRASE);
    await urlOf(authority);
    await reached(url, task, 1);
    const inspected = proxy.passed.filter(({ asked }) => asked.path === AUTHORITY_PATH.inspections(task));
    const { verdicts } = InspectAnswer.decode(inspected.at(-1)?.answer.body as Uint8Array);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['used', 'used', 'used']);
  } finally {
    for (const client of clients) await client.close();
    await killed(behind);
    await proxy.close();
  }
});

/** Every file but the lock: its name and bytes. */
function contentOf(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !/lock|-wal|-shm/.test(entry.name))
    .map(({ parentPath, name }) => `${name} ${readFileSync(join(parentPath, name)).toString('hex')}`)
    .sort();
}

/** Ends by itself with this code and one line, and leaves its folder as it was. */
async function failsToStart(service: Running, code: number, line: RegExp, data: string): Promise<void> {
  const before = contentOf(data);
  const ended = await service.ended;
  expect(ended.errors.trimEnd()).toMatch(line);
  expect(ended.errors.trimEnd()).not.toContain('\n');
  expect(ended.code).toBe(code);
  expect(contentOf(data)).toEqual(before);
}

it('a folder that is in use does not change', async () => {
  const data = join(folder, 'server');
  // The next user of the folder removes the uploads of the batch that it summed.
  await until(() => filesBelow(join(data, 'blobs', 'uploads')).length === 0);
  await failsToStart(
    startServer(serverConfig()),
    4,
    /^server: .* is in use by process \d+; stop it \(kill \d+\), or use another folder$/,
    data,
  );
});

it('both stop when they are asked to, with exit code 0', async () => {
  for (const [name, service] of [
    ['server', server],
    ['authority', authority],
  ] as const) {
    service.child.kill('SIGTERM');
    const { code, out, errors } = await service.ended;
    expect([code, errors]).toEqual([0, '']);
    expect(out).toMatch(new RegExp(`${name}: stopped\\n$`));
  }
});

it('a port that is in use, wrong words in the configuration, a secret in the file', async () => {
  const busy = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => busy.once('listening', resolve));
  const { port } = busy.address() as { port: number };
  try {
    const data = join(folder, 'server');
    const start = (more: object) => startServer(serverConfig(more));
    const aside = join(folder, 'aside');
    await Promise.all([
      failsToStart(start({ port, dataFolder: aside }), 6, /^server: port \d+ of 127.0.0.1 is in use/, data),
      failsToStart(start({ colour: 'blue' }), 2, /^server: configuration: colour is not a known key/, data),
      failsToStart(start({ authorityKey: 'abc' }), 2, /^server: configuration: authorityKey /, data),
      failsToStart(
        startAuthority(authorityConfig({ passphrase: 'in the file' })),
        2,
        /^authority: configuration: passphrase is a secret/,
        join(folder, 'authority'),
      ),
    ]);
  } finally {
    busy.close();
  }
});

it('a folder that is damaged, of the other service, of a newer format or without its key; a wrong passphrase', async () => {
  const data = (name: string): string => join(folder, name);
  const copied = (name: string, change: (bytes: Buffer) => Buffer): string => {
    mkdirSync(data(name));
    for (const file of ['basa.sqlite', 'server.key']) copyFileSync(join(data('server'), file), join(data(name), file));
    const path = join(data(name), 'basa.sqlite');
    writeFileSync(path, change(readFileSync(path)));
    return data(name);
  };
  const damaged = copied('damaged', (bytes) => bytes.fill(0x55, 4096, 12_288));
  const newer = copied('newer', (bytes) => {
    bytes.writeUInt32BE(99, 60); // user_version
    return bytes;
  });
  const keyless = copied('keyless', (bytes) => bytes);
  writeFileSync(join(keyless, 'server.key'), 'lost\n');
  const start = (dataFolder: string) => startServer(serverConfig({ dataFolder }));
  const wrong = { BASA_AUTHORITY_PASSPHRASE: 'not the passphrase' };
  const theirs = data('authority');
  await Promise.all([
    failsToStart(start(damaged), 3, /^server: the database in .* is damaged .*restore the newest backup/, damaged),
    failsToStart(start(newer), 3, /has format 99, but this version knows only formats up to \d+/, newer),
    failsToStart(start(keyless), 5, /server.key is missing or is not a key/, keyless),
    failsToStart(start(theirs), 3, /is the data folder of a BASA authority/, theirs),
  ]);
  const own = authorityConfig();
  await failsToStart(startAuthority(own, wrong), 5, /passphrase does not open the keys/, theirs);
});
