/**
 * A real S3 server for a test: Ceph's monitor, one object daemon in memory and its gateway, as Debian packages them, in a
 * folder of their own on loopback.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '@basa/service/free-port';

export interface ObjectStore {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  stop(): Promise<void>;
}

const PACKAGES = ['radosgw', 'ceph-mon', 'ceph-osd'];
const READY_MS = 120_000;

/** Returns the command that installs missing packages, or undefined if nothing is missing. */
export function missingCeph(): string | undefined {
  const missing = PACKAGES.filter((name) => !isInstalled(name));
  if (missing.length === 0) return undefined;
  return `apt-get install --no-install-recommends ${missing.join(' ')}`;
}

export async function startRadosgw(): Promise<ObjectStore> {
  const folder = mkdtempSync(join(tmpdir(), 'basa-ceph-'));
  const [fsid, osd] = [randomUUID(), randomUUID()];
  const [monitorPort, port] = [await freePort(), await freePort()];
  const address = `[v1:127.0.0.1:${monitorPort}]`;
  for (const name of ['run', 'mon', 'osd', 'rgw']) mkdirSync(join(folder, name));
  const settings = join(folder, 'ceph.conf');
  writeFileSync(settings, settingsFor({ folder, fsid, address, port }));
  const call = (program: string, ...rest: readonly string[]): void => {
    execFileSync(program, ['-c', settings, ...rest], { stdio: ['ignore', 'ignore', 'pipe'], timeout: READY_MS });
  };
  const running: ChildProcess[] = [];
  const daemon = (program: string, ...rest: readonly string[]): void => {
    running.push(spawn(program, ['-c', settings, '-f', ...rest], { stdio: 'ignore' }));
  };
  const stop = async (): Promise<void> => {
    for (const child of running.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL'); // everything is in memory
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const map = join(folder, 'monmap');
    execFileSync('monmaptool', ['--create', '--fsid', fsid, '--addv', 'a', address, map], { stdio: 'ignore' });
    call('ceph-mon', '--mkfs', '-i', 'a', '--monmap', map);
    daemon('ceph-mon', '-i', 'a');
    call('ceph', 'osd', 'new', osd);
    call('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', osd);
    daemon('ceph-osd', '-i', '0');
    call('ceph', 'osd', 'crush', 'add', 'osd.0', '1.0', 'root=default', 'host=here');
    const [accessKeyId, secretAccessKey] = [randomBytes(10).toString('hex'), randomBytes(20).toString('hex')];
    const user = [
      '--uid=basa',
      '--display-name=basa',
      `--access-key=${accessKeyId}`,
      `--secret-key=${secretAccessKey}`,
    ];
    call('radosgw-admin', '-n', 'client.rgw', 'user', 'create', ...user);
    daemon('radosgw', '-n', 'client.rgw');
    const endpoint = `http://127.0.0.1:${port}`;
    await untilItAnswers(endpoint);
    return { endpoint, region: 'us-east-1', accessKeyId, secretAccessKey, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function settingsFor(own: { folder: string; fsid: string; address: string; port: number }): string {
  const { folder, fsid, address, port } = own;
  return `[global]
fsid = ${fsid}
mon host = ${address}
mon initial members = a
auth cluster required = none
auth service required = none
auth client required = none
osd objectstore = memstore
memstore device bytes = 1073741824
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
ms bind msgr2 = false
run dir = ${folder}/run
log file = ${folder}/$name.log
admin socket = ${folder}/run/$name.asok
[mon.a]
mon data = ${folder}/mon
[osd.0]
osd data = ${folder}/osd
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:${port}
rgw data = ${folder}/rgw
`;
}

async function untilItAnswers(endpoint: string): Promise<void> {
  for (const giveUpAt = Date.now() + READY_MS; ; await wait(200)) {
    const answered = await fetch(endpoint).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answered) return;
    if (Date.now() > giveUpAt) throw new Error('the gateway does not answer');
  }
}

function isInstalled(name: string): boolean {
  try {
    execFileSync('which', [name], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
