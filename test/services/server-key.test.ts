/** The key of a server is replaced by the commands of an operator: devices go on as they are. */
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BasaClient } from '@basa/client/node';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { fromHex, toHex } from '@basa/masking';
import { ENGINE, ONE_SHOT_DEFAULTS, SERVER_PATH } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { OPERATOR_TOKEN, TestServices, until } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const WAIT_MS = 2000;

let folder: string;
let services: TestServices;
let devices: readonly BasaClient[];
let nextSigningKey: Uint8Array;
let hash: string;
const file = (name: string): string => join(folder, name);
const bytesIn = (name: string): Uint8Array => fromHex(readFileSync(file(name), 'utf8').trim()) ?? new Uint8Array();

async function type(...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const environment = {
    BASA_SERVER: services.server.url,
    BASA_AUTHORITY: services.authority.url,
    BASA_AUTHORITY_TOKEN: OPERATOR_TOKEN,
  };
  const { code, out, errors } = await basaHere(['succession', ...args, '--json'], environment);
  if (code !== 0) throw new Error(errors);
  return lastLine(out);
}

/** A device gives an update on the newest version. */
async function contributed(device: BasaClient, n: number): Promise<string> {
  const { version, parameters } = await device.model();
  const delta = Float32Array.from(parameters, (_, at) => (at === n ? 1 : 0.5 / (version + 1)));
  const ended = await device.contribute(delta, { trainedOn: version });
  return ended.kind === 'rejected' ? ended.reason : ended.kind;
}
const allContributed = (): Promise<readonly string[]> => Promise.all(devices.map(contributed));
const ACCEPTED = Array(3).fill('accepted');
const isTooEarly = (): false => false;

const about = async (): Promise<unknown> => (await fetch(new URL(SERVER_PATH.about, services.server.url))).json();

describe.each([
  ['with slots', {}],
  ['in the one-shot mode', { engine: ENGINE.oneShot, oneShot: ONE_SHOT_DEFAULTS }],
])('the next key of a server, %s,', (_, mode) => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'basa-server-key-'));
    for (const name of ['recovery', 'next'])
      expect((await basaHere(['succession', 'key', '--out', file(name)], {})).code).toBe(0);
    nextSigningKey = bytesIn('next');
    const succession = { waitMs: WAIT_MS, recoveryHash: nodeSuite.sha256(bytesIn('recovery.pub')) };
    services = await TestServices.open({ policy: { ...mode, bufferSize: 3, minimum: 3, succession } });
    const retry = { attempts: 2, firstWaitMs: 10 };
    devices = await Promise.all(['a', 'b', 'c'].map((name) => services.client(name, { retry })));
    expect(await allContributed()).toEqual(ACCEPTED);
    await services.reached(1);
  });
  afterAll(() => services.close());

  it('is proposed, signed and published by commands, and the devices contribute under it', async () => {
    const { task } = services;
    const out = file('term');
    await services.restartServer({ nextSigningKey });
    expect(await about()).toMatchObject({
      publicKey: toHex(services.policy.serverKey),
      nextKey: toHex(bytesIn('next.pub')),
    });
    // The clock of a device may be ahead of the server's.
    const early = {
      audience: bytesIn('next.pub'),
      method: 'DELETE',
      target: SERVER_PATH.admissions(task),
      at: Date.now(),
    };
    const headers = signingDevice().headers(early);
    expect((await fetch(new URL(early.target, services.server.url), { method: early.method, headers })).ok).toBe(true);
    await expect(type('propose', task, '--seat', 'server', '--out', out)).rejects.toThrow('are used together');
    const wanted = ['--seat', 'server', '--server-key', file('next'), '--effective', '10s', '--out', out];
    const proposed = await type('propose', task, ...wanted);
    hash = String(proposed['hash']);
    // The only authority has signed it; without the recovery key it counts nowhere.
    await expect(type('publish', '--term', out)).rejects.toThrow('Too few seats signed this term');
    await type('recover', '--term', out, '--hash', hash, '--recovery-key', file('recovery'));
    await type('publish', '--term', out);
    expect(await type('show', task)).toMatchObject({ terms: [{ number: 1, seat: 'server', isLost: false, hash }] });

    for (const device of devices) expect((await device.model()).version).toBe(1);
    // Each of them waits since it first saw the term, by its own clock, and follows it when it next asks.
    const hasNewKey = ({ policy }: BasaClient): boolean => toHex(policy.serverKey) === toHex(bytesIn('next.pub'));
    const follows = (device: BasaClient) =>
      device.model().then(({ version }) => hasNewKey(device) && version === 2, isTooEarly);
    await until(async () => {
      await services.authority.tick();
      return (await Promise.all(devices.map(follows))).every((isSo) => isSo);
    });
    // At the switch, a device may find no statements of its term for a moment.
    const isAccepted = (device: BasaClient, n: number) =>
      contributed(device, n).then((kind) => kind === 'accepted', isTooEarly);
    await Promise.all(devices.map((device, n) => until(() => isAccepted(device, n))));
    await services.reached(3);
    expect(await services.reached(2)).toEqual(await services.reached(1)); // version 1 was repeated in the term
  });

  it('a server with only the old key gives no places', async () => {
    await services.restartServer();
    for (const device of devices) expect(await device.admission()).toMatchObject({ reason: 'task-paused' });
  });

  it('the new key replaces the old one, and a new device learns the term', async () => {
    const current = join(services.folder, 'server', 'server.key');
    copyFileSync(current, file('old'));
    const oldKey = bytesIn('old');
    await expect(type('destroy', 'server', '--key', file('old'), '--yes')).rejects.toThrow('still runs with the key');
    copyFileSync(file('next'), current);
    await services.restartServer();
    expect(await about()).toMatchObject({ publicKey: toHex(bytesIn('next.pub')) });
    expect(await allContributed()).toEqual(ACCEPTED);
    await services.reached(4);
    for (const name of ['old', 'next'])
      expect(await type('destroy', 'server', '--key', file(name), '--dry-run').catch(String)).toEqual(
        name === 'old' ? expect.objectContaining({ isDryRun: true }) : expect.stringContaining('still runs'),
      );
    await expect(type('destroy', 'server', '--key', file('old'))).rejects.toThrow('add --yes');
    expect(bytesIn('old')).toEqual(oldKey);
    await type('destroy', 'server', '--key', file('old'), '--yes');
    expect(existsSync(file('old'))).toBe(false);
    expect(await about()).toMatchObject({ authorityKeys: [toHex(services.authority.publicKey)] });
    await expect(services.client('late')).rejects.toThrow('not the server of this task');
    expect((await (await services.client('new', { term: hash })).model()).version).toBe(4);
    const { task, authority } = services;
    writeFileSync(file('update'), new Uint8Array(new Float32Array(services.policy.dimension).fill(0.5).buffer));
    const asDevice = async (...more: readonly string[]) => {
      const flags = ['--update', file('update'), '--enrol', await services.token(), ...more];
      const pins = ['--task', task, '--authority-key', toHex(authority.publicKey)];
      const at = ['--server', services.server.url, '--authority', authority.url];
      return basaHere(['client', '--identity', file(`device${more.length}`), ...at, ...pins, ...flags]);
    };
    expect((await asDevice()).errors).toContain('not the server of this task');
    expect((await asDevice('--term', hash, '--forbid-succession')).errors).toContain('may be replaced');
    expect(await asDevice('--term', hash)).toMatchObject({ code: 0, out: expect.stringContaining('accepted') });
  });
});
