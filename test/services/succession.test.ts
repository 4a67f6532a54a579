/**
 * The only authority of a one-shot task is lost, with updates of all devices waiting for it. The commands of an operator give its seat to
 * another: devices go on as they are.
 */
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Authority } from '@basa/authority';
import { type BasaClient, BasaClient as Clients } from '@basa/client/node';
import { fromHex, toHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  ENGINE,
  lineCodec,
  ONE_SHOT_DEFAULTS,
  problemDocument,
  SERVER_PATH,
  type TaskPolicy,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { OPERATOR_TOKEN, operate, TestServices, until } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const WAIT_MS = 2000;

let folder: string;
let services: TestServices;
let successor: Authority;
let devices: readonly BasaClient[];
const file = (name: string): string => join(folder, name);

async function type(...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const environment = { BASA_SERVER: services.server.url, BASA_AUTHORITY_TOKEN: OPERATOR_TOKEN };
  const { code, out, errors } = await basaHere(['succession', ...args, '--json'], environment);
  if (code !== 0) throw new Error(errors);
  return lastLine(out);
}

const knows = (client: BasaClient, version: number): Promise<void> =>
  until(async () => (await client.model()).version === version);

/** All of them give an update on this version, once they know it. */
async function contributed(version: number): Promise<void> {
  const given = devices.map(async (client, n) => {
    await knows(client, version);
    const { parameters } = await client.model();
    const delta = Float32Array.from(parameters, (_, at) => (at === n ? 1 : 0.5 / (version + 1)));
    const ended = await client.contribute(delta, { trainedOn: version });
    return ended.kind === 'rejected' ? ended.reason : ended.kind;
  });
  expect(await Promise.all(given)).toEqual(devices.map(() => 'accepted'));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'basa-succession-'));
  expect((await basaHere(['succession', 'key', '--out', file('recovery')], {})).code).toBe(0);
  const recovery = fromHex(readFileSync(file('recovery.pub'), 'utf8').trim()) ?? new Uint8Array();
  const succession = { waitMs: WAIT_MS, recoveryHash: nodeSuite.sha256(recovery) };
  const oneShot = { engine: ENGINE.oneShot, oneShot: ONE_SHOT_DEFAULTS };
  services = await TestServices.open({ policy: { ...oneShot, bufferSize: 3, minimum: 3, succession } });
  const retry = { attempts: 2, firstWaitMs: 10 };
  devices = await Promise.all(['a', 'b', 'c'].map((name) => services.client(name, { retry })));
  await contributed(0);
  await services.reached(1);
  successor = await services.furtherAuthority('successor');
});
afterAll(async () => {
  await Promise.all(devices.map((client) => client.close()));
  await services.server.close();
  await successor.close();
});

it('an application that forbids succession takes no part', async () => {
  await expect(services.client('strict', { floor: { succession: 'forbidden' } })).rejects.toThrow('may be replaced');
});

/** The key file of the services' authority encrypts the keys of both, so each destroys a copy of its own. */
function destroyed(name: string, ...more: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const keyFile = file(`${name}.key`);
  copyFileSync(join(services.folder, 'authority.key'), keyFile);
  const settings = [`dataFolder=${join(services.folder, name)}`, `keyFile=${keyFile}`, 'port=0'];
  return type('destroy', 'authority', ...settings.flatMap((setting) => ['--set', setting]), ...more);
}

it('is proposed, recovered and published by commands, and the devices contribute to the successor', async () => {
  const { task } = services;
  const out = file('term');
  const proposed = await type('propose', task, '--authority', successor.url, '--effective', '10s', '--out', out);
  expect(proposed).toMatchObject({ number: 1, task });
  // Signed by the new key alone it counts nowhere.
  const early = ['publish', '--term', out, '--authority', successor.url];
  await expect(type(...early)).rejects.toThrow('Too few seats signed this term');
  for (const device of devices) await knows(device, 1);
  await services.authority.close();
  await contributed(1); // no sum will include these updates
  await expect(destroyed('authority', '--yes')).rejects.toThrow(
    `uses the key ${toHex(services.authority.publicKey).slice(0, 8)}`,
  );
  expect(existsSync(file('authority.key'))).toBe(true);
  const recover = ['recover', '--term', out, '--recovery-key', file('recovery'), '--hash', String(proposed['hash'])];
  expect(await type(...recover)).toEqual({ recovered: true });
  await type('publish', '--term', out, '--authority', successor.url);
  expect(await type('show', task)).toMatchObject({
    terms: [{ number: 1, seat: 0, isLost: true, hash: proposed['hash'] }],
  });
  const standing = await fetch(new URL(AUTHORITY_PATH.modelEntry(task, 'newest'), successor.url));
  expect(standing.status).toBe(422); // it has no model before its term begins

  // The server has the successor sign the newest version again; until then there is no model in this term.
  await until(async () => {
    await successor.tick();
    return (await fetch(new URL(AUTHORITY_PATH.modelEntry(task, 'newest'), successor.url))).ok;
  });
  // Every device gave its update on version 1. Without a version 2 that repeats it, none could give another.
  await contributed(2);
  await services.reached(3);
  expect(await services.reached(2)).toEqual(await services.reached(1));
  const line = lineCodec.decode(
    new Uint8Array(await (await fetch(new URL(SERVER_PATH.line(task), services.server.url))).arrayBuffer()),
  );
  expect(toHex(line.terms[0]?.key ?? new Uint8Array())).toBe(toHex(successor.publicKey));
  const { tasks } = await operate<{ tasks: readonly { devices: number }[] }>(
    successor.url,
    'GET',
    AUTHORITY_PATH.tasks,
  );
  expect(tasks).toMatchObject([{ devices: 3 }]); // by their certificates: none of them had a token for it
});

it('the old key is destroyed by a command, and the key of an authority that runs is not', async () => {
  await expect(destroyed('successor', '--yes')).rejects.toThrow('in use');
  await expect(destroyed('authority')).rejects.toThrow('add --yes');
  const seen = await destroyed('authority', '--dry-run');
  expect(seen).toMatchObject({ key: toHex(services.authority.publicKey), isDryRun: true });
  expect(existsSync(file('authority.key'))).toBe(true);
  const liar = await services.proxy('server');
  const json = (status: number, said: object) => ({ status, headers: {}, body: Buffer.from(JSON.stringify(said)) });
  const lineOf = (policy: TaskPolicy) => ({
    status: 200,
    headers: {},
    body: Buffer.from(lineCodec.encode({ policy, terms: [] })),
  });
  const other = { ...services.policy, authorities: [successor.publicKey] };
  // It hides the task, or shows it without its term, or shows another task.
  for (const line of [json(404, problemDocument('task-unknown')), lineOf(services.policy), lineOf(other)]) {
    liar.onAsk = ({ path }) =>
      path === SERVER_PATH.tasks ? json(200, { tasks: [] }) : path.endsWith('/line') ? line : undefined;
    for (const sure of ['--yes', '--dry-run'])
      await expect(destroyed('authority', sure, '--server', liar.url)).rejects.toThrow('add --even-if-listed');
  }
  expect(existsSync(file('authority.key'))).toBe(true);
  await destroyed('authority', '--dry-run', '--even-if-listed', '--server', liar.url);
  await destroyed('authority', '--yes');
  expect(existsSync(file('authority.key'))).toBe(false);
});

it('a new device is pinned to the successor, and does not wait', async () => {
  const body = { count: 1, endsAt: Date.now() + 60_000 };
  const path = AUTHORITY_PATH.tokens(services.task);
  const { tokens } = await operate<{ tokens: readonly string[] }>(successor.url, 'POST', path, body);
  const client = await Clients.connect({
    server: services.server.url,
    authority: successor.url,
    authorityKey: toHex(successor.publicKey),
    task: services.task,
    identity: file('new'),
    token: tokens[0] ?? '',
  });
  expect((await client.model()).version).toBe(3);
  await client.close();
});
