/** A device in a folder: its key, its journal and the body of the upload under way, readable only by their owner. */
import { existsSync } from 'node:fs';
import { realpath, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import type { DeviceSigner, DeviceStore } from '../device/device-store.ts';
import { StoreError } from '../errors.ts';
import { type DeviceLock, lockDevice } from './device-lock.ts';
import { isCode, makeFolder, newName, readIfThere, removeIfThere, replaceFile, wipeFile } from './durable-file.ts';
import { Journal } from './journal.ts';

/** Creates the folder and the key if they do not exist. Holds the device's lock until `close`. */
export async function openFolderStore(path: string): Promise<DeviceStore> {
  await makeFolder(path);
  const folder = await realpath(path);
  const lock = await lockDevice(folder);
  try {
    return await openLocked(folder, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openLocked(folder: string, lock: DeviceLock): Promise<DeviceStore> {
  refusePythonFolder(folder);
  const signer = await signerOf(join(folder, KEY_FILE));
  const journal = await Journal.open(join(folder, JOURNAL_FILE));
  const body = join(folder, 'body');
  await removeIfThere(newName(body));
  return {
    signer,
    entries: async () => journal.takeEntries(),
    async append(entries, bytes) {
      await lock.check();
      // The body counts once the journal names it: without a session it is removed when the device is opened.
      if (bytes !== undefined) await replaceFile(body, bytes);
      await journal.append(entries);
    },
    replace: (entries) => lock.check().then(() => journal.replace(entries)),
    body: () => readIfThere(body),
    dropBody: () => removeIfThere(body),
    async close() {
      await journal.close();
      await lock.release();
    },
  };
}

/**
 * The Python client has the same key file, but neither this lock nor this journal: one update could be given away twice. Each client makes
 * its own lock first, and then looks for the other one.
 */
function refusePythonFolder(folder: string): void {
  const name = ['state.json', 'lock'].find((one) => existsSync(join(folder, one)));
  if (name === undefined) return;
  throw new StoreError(
    `the folder ${folder} belongs to a device of the Python client, because it has the file ${name}; the two clients do not share their locks and ledgers, so enrol a new device in a new folder`,
  );
}

/** The topmost folder that opening a store at this path would create; undefined if the path exists. */
export function firstMissing(path: string): string | undefined {
  const at = resolve(path);
  return existsSync(at) ? undefined : (firstMissing(dirname(at)) ?? at);
}

/** Removes a closed store that was just created, with the folders that were created for it and hold nothing else. */
export async function removeUnusedStore(path: string, first: string): Promise<void> {
  for (const name of [KEY_FILE, JOURNAL_FILE]) await wipeFile(join(path, name));
  for (let at = resolve(path); ; at = dirname(at)) {
    try {
      await rmdir(at);
    } catch (error) {
      if (isCode(error, 'ENOTEMPTY') || isCode(error, 'EEXIST') || isCode(error, 'ENOENT')) return;
      throw error;
    }
    if (at === first) return;
  }
}

const KEY_FILE = 'identity.key';
const JOURNAL_FILE = 'journal';
const KEY_BYTES = 32;

async function signerOf(path: string): Promise<DeviceSigner> {
  const known = await readIfThere(path);
  const secretKey = known ?? nodeRandomBytes(KEY_BYTES);
  if (secretKey.length !== KEY_BYTES) {
    throw new StoreError(`${path} is damaged: ${secretKey.length} bytes instead of ${KEY_BYTES}`);
  }
  if (known === undefined) await replaceFile(path, secretKey);
  const signer = createNodeSigner(secretKey);
  secretKey.fill(0);
  return signer;
}
