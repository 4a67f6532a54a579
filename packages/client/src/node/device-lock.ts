/**
 * One process a device, by the word of the operating system: a claim is a socket in the device's folder on which its process
 * listens. The kernel says whether somebody does, across containers and their process ids, and stops saying so when the
 * process dies, however it dies (docs/decisions/040).
 *
 * First a process makes its own claim, then it looks for others. Of two claims one was made first, and whoever made the
 * other sees it: two can never both find themselves alone. A living claim is never removed by another.
 */
import { randomBytes } from 'node:crypto';
import { chmod, lstat, readdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '../errors.ts';
import { isCode } from './durable-file.ts';
import { type LockPlace, placeOf } from './lock-place.ts';
import { type Claim, isListening, listenFor, nameOf } from './lock-socket.ts';

const PREFIX = 'lock-';
/** Lies beside a claim once its process has the device: others need not wait for it to give way. */
const heldName = (claim: string): string => `held-${claim}`;
/** Of several that claim at once the first by name stays, and waits for the others to go. */
const WAIT_MS = 10;
const MAX_WAITS = 3000;

export interface DeviceLock {
  /** Rejects where the claim is gone: somebody cleaned it away, and another process may have the device. */
  check(): Promise<void>;
  release(): Promise<void>;
}

/** Rejects where another living process has the device, or may have it. */
export async function lockDevice(folder: string, place?: LockPlace): Promise<DeviceLock> {
  if (process.platform === 'win32') return lockByPipe(folder);
  const { machine, isShared } = place ?? (await placeOf(folder));
  const name = `${PREFIX}${machine}-${randomBytes(8).toString('hex')}`;
  const mine = await listenFor(folder, name);
  try {
    // Another may have taken it for a dead one before anybody listened; from here on none can.
    if (!(await isThere(() => chmod(join(folder, name), 0o600)))) {
      await mine.close();
      return await lockDevice(folder, place);
    }
    for (let waits = 0; (await rivals(folder, name, { machine, isShared })) > 0; waits++) {
      if (waits === MAX_WAITS) throw busy(folder, 'several processes that started at once');
      await sleep(WAIT_MS);
    }
    await writeFile(join(folder, heldName(name)), '', { mode: 0o600 });
  } catch (error) {
    await mine.close();
    throw error;
  }
  return {
    check: () => checkClaim(folder, name),
    async release() {
      await isThere(() => unlink(join(folder, heldName(name))));
      await mine.close();
    },
  };
}

/** How many others are still trying that will give way; rejects where another has the device, or comes first. */
async function rivals(folder: string, mine: string, place: LockPlace): Promise<number> {
  let trying = 0;
  for (const name of await readdir(folder)) {
    if (!name.startsWith(PREFIX) || name === mine) continue;
    if (!(await isListening(folder, name))) await sweep(folder, name, place);
    else if (name < mine || (await isThere(() => lstat(join(folder, heldName(name))))))
      throw busy(folder, await nameOf(folder, name));
    else trying++;
  }
  return trying;
}

/** Nobody listens: the process is dead, unless another machine, whose kernel is not asked, uses the same disk. */
async function sweep(folder: string, name: string, { machine, isShared }: LockPlace): Promise<void> {
  if (isShared && !name.startsWith(`${PREFIX}${machine}-`)) {
    throw new StoreError(
      `the device in ${folder} was claimed by another machine, or before this one was started anew, on a file system that machines may share; ` +
        `where no other process uses the device, delete ${join(folder, name)}`,
    );
  }
  await isThere(() => unlink(join(folder, heldName(name))));
  await isThere(() => unlink(join(folder, name)));
}

async function checkClaim(folder: string, name: string): Promise<void> {
  if (await isThere(() => lstat(join(folder, name)))) return;
  throw new StoreError(
    `the lock of the device in ${folder} was removed while it was held; this process stops, for another may have the device`,
  );
}

/** Whether the file was there for what was done to it. */
async function isThere(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Names of pipes are the machine's, and end with their process. */
async function lockByPipe(folder: string): Promise<DeviceLock> {
  const pipe = `\\\\.\\pipe\\basa-device-${Buffer.from(folder.toLowerCase()).toString('base64url').slice(-180)}`;
  let mine: Claim;
  try {
    mine = await listenFor('', pipe);
  } catch (error) {
    throw isCode(error, 'EADDRINUSE') ? busy(folder, 'another process') : error;
  }
  return { check: async () => {}, release: () => mine.close() };
}

function busy(folder: string, who: string): StoreError {
  return new StoreError(
    `the device in ${folder} is in use by ${who}; a device runs once at a time, so give each client its own folder`,
  );
}
