/** Checks of the machine: versions, the folder's disk, and the port. */
import { existsSync, rmSync } from 'node:fs';
import { mkdtemp, open, stat, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { ownVersion } from '../shell/version.ts';
import { type Finding, failed, fine, warning } from './finding.ts';

const MIN_NODE = [20, 19] as const;
const LOW_BYTES = 2 ** 30;
const TOO_LOW_BYTES = 64 * 2 ** 20;
const FLUSHES = 9;
const SLOW_FLUSH_MS = 50;

export async function checkVersions(): Promise<readonly Finding[]> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isNew = major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]);
  const node = isNew
    ? fine('node', process.version)
    : failed('node', process.version, `install Node ${MIN_NODE.join('.')} or newer`);
  return [node, fine('basa', await ownVersion())];
}

export async function checkFolder(folder: string): Promise<readonly Finding[]> {
  const place = nearest(resolve(folder));
  return [await checkPermissions(folder), await checkSpace(place), await checkFlush(place)];
}

async function checkPermissions(folder: string): Promise<Finding> {
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined) return fine('data folder', `${folder} does not exist yet; the service creates it`);
  if (!found.isDirectory())
    return failed('data folder', `${folder} is a file`, 'set dataFolder to the path of a folder');
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    return warning('data folder', `users other than its owner can open ${folder}`, `chmod 700 ${folder}`);
  return fine('data folder', folder);
}

async function checkSpace(place: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(place);
  const free = bavail * bsize;
  const says = `${(free / 2 ** 30).toFixed(1)} GiB free in ${place}`;
  const todo = 'free some space, or move dataFolder; lower keepModels or keepBuffersDays so that the server keeps less';
  if (free < TOO_LOW_BYTES) return failed('disk space', says, todo);
  return free < LOW_BYTES ? warning('disk space', says, todo) : fine('disk space', says);
}

/** Measures the time the disk takes to make a write durable: every acknowledgement waits for it. */
async function checkFlush(place: string): Promise<Finding> {
  let folder: string;
  try {
    folder = await mkdtemp(join(place, '.basa-doctor-'));
  } catch (error) {
    const why = `${place} cannot be written (${(error as NodeJS.ErrnoException).code})`;
    return failed('disk flush', why, 'run `basa doctor` as the user of the service, and check the owner of the folder');
  }
  try {
    const file = await open(join(folder, 'flush'), 'w', 0o600);
    const times: number[] = [];
    for (let n = 0; n < FLUSHES; n++) {
      const start = performance.now();
      await file.write(new Uint8Array(4096));
      await file.sync();
      times.push(performance.now() - start);
    }
    await file.close();
    const median = times.sort((a, b) => a - b)[FLUSHES >> 1] ?? 0;
    const says = `a flush in ${place} takes ${median.toFixed(1)} ms`;
    if (median > SLOW_FLUSH_MS)
      return warning('disk flush', says, 'use a local disk: every acknowledgement of an update waits for a flush');
    return fine('disk flush', says);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `answers`: true if the service itself holds the port. */
export async function checkPort(
  { host, port }: { readonly host: string; readonly port: number },
  answers: () => Promise<boolean>,
): Promise<Finding> {
  if (port === 0) return fine('port', 'the service takes any free port');
  const code = await new Promise<string | undefined>((done) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => done(error.code));
    probe.listen({ host, port }, () => probe.close(() => done(undefined)));
  });
  if (code === undefined) return fine('port', `${host}:${port} is free`);
  if (code === 'EADDRINUSE' && (await answers())) return fine('port', `the service is running at ${host}:${port}`);
  const todo =
    code === 'EADDRINUSE'
      ? 'stop the program that uses it, or choose another port'
      : 'check the settings host and port';
  return failed('port', `${host}:${port} cannot be used (${code})`, todo);
}

function nearest(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearest(dirname(path));
}
