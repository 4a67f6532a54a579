/**
 * One process per device, guaranteed by the operating system: a claim is a socket in the device's folder on which its process
 * listens. The kernel knows whether a process listens, across containers and their process ids, and until the process dies in
 * any way (docs/decisions/040).
 *
 * A process first makes its own claim, then it looks for others. Of two claims one was made first, and the process that made
 * the other sees it: two processes can never both miss each other. No process removes a living claim of another.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, type FileHandle, lstat, open, readdir, readFile, statfs, unlink, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ascii, toHex } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';
import { StoreError } from '../errors.ts';
import { isCode } from './durable-file.ts';

interface LockPlace {
  /** One name for all containers of a machine, a different one after a reboot. */
  readonly machine: string;
  /** True if several machines may mount the file system. */
  readonly isShared: boolean;
}

/** Numbers of `statfs(2)` of file systems that belong to one kernel: a claim there is of this kernel, or of a dead one. */
const OF_ONE_KERNEL: ReadonlySet<number> = new Set([
  0xef53, // ext2 to ext4
  0x5846_5342, // XFS
  0x9123_683e, // Btrfs
  0x2fc1_2fc1, // ZFS
  0xf2f5_2010, // F2FS
  0x0102_1994, // tmpfs
  0x794c_7630, // overlayfs: the layers of a container
]);

export async function placeOf(folder: string): Promise<LockPlace> {
  return { machine: await machineName(), isShared: !OF_ONE_KERNEL.has((await statfs(folder)).type) };
}

async function machineName(): Promise<string> {
  const boot = process.platform === 'linux' ? await bootId() : hostname();
  return toHex(nodeSuite.sha256(ascii(boot))).slice(0, 16);
}

/** If the kernel gives no identifier, returns a unique name, so that the claim is never attributed to this machine. */
async function bootId(): Promise<string> {
  try {
    return await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  } catch {
    return randomBytes(16).toString('hex');
  }
}

interface Claim {
  /** Removes the socket. */
  close(): Promise<void>;
}

/** The shortest of the systems' limits; longer paths are cut off silently. */
const LONGEST_PATH_BYTES = 100;
/** A process may be busy or stopped: the kernel tells that it listens; its own name is only for the message. */
const PATIENCE_MS = 300;

/** A process that connects gets the identity of this process. */
async function listenFor(folder: string, name: string): Promise<Claim> {
  const { path, handle } = await reach(folder, name);
  const server = createServer((asking) => {
    asking.on('error', () => undefined); // the process that asked has gone
    asking.end(`process ${process.pid} on ${hostname()}`, () => asking.destroy());
  });
  server.unref();
  try {
    await new Promise<void>((resolve, reject) => {
      // Exclusive: in a worker of node:cluster the socket would otherwise be the primary's, and outlive the worker.
      server.once('error', reject).listen({ path, exclusive: true }, resolve);
    });
  } catch (error) {
    await handle?.close();
    if (isCode(error, 'EADDRINUSE') || folder === '') throw error;
    throw new StoreError(`a lock cannot be created in ${folder}; use a folder on a local disk`, { cause: error });
  }
  return {
    async close() {
      await new Promise((resolve) => server.close(resolve));
      await handle?.close();
    },
  };
}

/** True if a process listens on a claim. In doubt returns true. */
async function isListening(folder: string, name: string): Promise<boolean> {
  return (await ask(folder, name, 'connect')) !== undefined;
}

/** Returns the name of the process that listens on a claim, if it tells. */
async function nameOf(folder: string, name: string): Promise<string> {
  return (await ask(folder, name, 'end')) || 'another process';
}

/** Returns the text received until then; undefined if the kernel says that no process listens, or the socket is gone. */
async function ask(folder: string, name: string, until: 'connect' | 'end'): Promise<string | undefined> {
  const { path, handle } = await reach(folder, name);
  const socket = connect(path);
  try {
    return await new Promise((resolve) => {
      let words = '';
      socket.setEncoding('utf8').setTimeout(PATIENCE_MS);
      socket.on('data', (part) => {
        words += part;
      });
      socket.on(until, () => resolve(words));
      socket.on('timeout', () => resolve(words));
      socket.on('error', (error) => {
        resolve(isCode(error, 'ECONNREFUSED') || isCode(error, 'ENOENT') ? undefined : words);
      });
    });
  } finally {
    socket.destroy();
    await handle?.close();
  }
}

/** A path that fits into the address of a socket: through an open folder if the whole path is too long. */
async function reach(folder: string, name: string): Promise<{ readonly path: string; readonly handle?: FileHandle }> {
  const path = folder === '' ? name : join(folder, name);
  if (folder === '' || Buffer.byteLength(path) <= LONGEST_PATH_BYTES) return { path };
  if (process.platform !== 'linux')
    throw new StoreError(`the path ${folder} is too long for a lock; use a shorter path`);
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `/proc/self/fd/${handle.fd}/${name}`, handle };
}

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
