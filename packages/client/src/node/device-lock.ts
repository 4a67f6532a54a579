/**
 * One process per device, guaranteed by the operating system: a claim is a socket in the device's folder on which its process
 * listens. The kernel knows whether a process listens, across containers and their process ids, and until the process dies in
 * any way (docs/decisions/040).
 *
 * A process first makes its own claim, then it looks for others. Of two claims one was made first, and the process that made
 * the other sees it: two processes can never both miss each other. No process removes a living claim of another.
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
/** A marker file next to a claim, written when the process has locked the device. Other processes then do not wait for the claim. */
const heldName = (claim: string): string => `held-${claim}`;
/** If several processes claim the device at the same time, the first by name stays and waits until the others have left. */
const WAIT_MS = 10;
const MAX_WAITS = 3000;

export interface DeviceLock {
  /** Rejects if the claim is gone: it was removed from outside, and another process may have the device. */
  check(): Promise<void>;
  release(): Promise<void>;
}

/** Rejects if another living process has the device, or may have it. */
export async function lockDevice(folder: string, place?: LockPlace): Promise<DeviceLock> {
  if (process.platform === 'win32') return lockByPipe(folder);
  const { machine, isShared } = place ?? (await placeOf(folder));
  const name = `${PREFIX}${machine}-${randomBytes(8).toString('hex')}`;
  const mine = await listenFor(folder, name);
  try {
    // Until now another process may have taken the claim for a dead one and removed it; from here on none can.
    if (!(await isThere(() => chmod(join(folder, name), 0o600)))) {
      await mine.close();
      return await lockDevice(folder, place);
    }
    for (let waits = 0; (await rivals(folder, name, { machine, isShared })) > 0; waits++) {
      if (waits === MAX_WAITS) throw busy(folder, 'several processes that started at the same time');
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

/** Returns the number of others that are still trying and will give way; rejects if another has the device, or comes first. */
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

/** No process listens: it is dead, unless another machine with its own kernel uses the same disk. */
async function sweep(folder: string, name: string, { machine, isShared }: LockPlace): Promise<void> {
  if (isShared && !name.startsWith(`${PREFIX}${machine}-`)) {
    throw new StoreError(
      `the device in ${folder} was locked by another machine, or before a restart of this machine, on a file system that machines may share; ` +
        `if no other process uses the device, delete ${join(folder, name)}`,
    );
  }
  await isThere(() => unlink(join(folder, heldName(name))));
  await isThere(() => unlink(join(folder, name)));
}

async function checkClaim(folder: string, name: string): Promise<void> {
  if (await isThere(() => lstat(join(folder, name)))) return;
  throw new StoreError(
    `the lock of the device in ${folder} was removed while this process held it; this process stops, because another one may use the device`,
  );
}

/** Returns true if the file existed for this operation. */
async function isThere(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Names of pipes belong to the machine, and end with their process. */
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
    `the device in ${folder} is in use by ${who}; a device can run only once at a time, so give each client its own folder`,
  );
}
