/** A device in a folder: its key, its journal and the body of the upload under way, readable only by their owner. */
import { constants, existsSync } from 'node:fs';
import { type FileHandle, open, realpath, rename, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ascii, ByteReader, ByteWriter, equalBytes } from '@basa/masking';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { DeviceSigner, DeviceStore } from '../device/store.ts';
import { StoreError } from '../errors.ts';
import { type DeviceLock, lockDevice } from './device-lock.ts';
import {
  isCode,
  makeFolder,
  newName,
  readIfThere,
  removeIfThere,
  replaceFile,
  syncFolder,
  wipeFile,
  writeDurably,
} from './durable-file.ts';

const MAGIC = ascii('basadev2');
/** Up to version 0.3. */
const OLD_MAGIC = ascii('basadev1');
const CHECK_BYTES = 8;

class Journal {
  readonly #path: string;
  #file: FileHandle;
  #end: number;
  #entries: Uint8Array[];

  private constructor(path: string, file: FileHandle, end: number, entries: Uint8Array[]) {
    this.#path = path;
    this.#file = file;
    this.#end = end;
    this.#entries = entries;
  }

  static async open(path: string): Promise<Journal> {
    const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      return await Journal.#read(path, file);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  static async #read(path: string, file: FileHandle): Promise<Journal> {
    const bytes = new Uint8Array(await file.readFile());
    if (bytes.length < MAGIC.length) {
      await file.truncate(0);
      await file.write(MAGIC, 0, MAGIC.length, 0);
      await file.sync();
      await syncFolder(dirname(path));
      return new Journal(path, file, MAGIC.length, []);
    }
    const { end, entries } = read(bytes, path);
    if (end < bytes.length) await file.truncate(end);
    return new Journal(path, file, end, entries);
  }

  /** All entries at opening; they are returned once. */
  takeEntries(): readonly Uint8Array[] {
    return this.#entries.splice(0);
  }

  async append(entries: readonly Uint8Array[]): Promise<void> {
    const step = encodeStep(entries);
    try {
      const { bytesWritten } = await this.#file.write(step, 0, step.length, this.#end);
      // A disk that is almost full takes a part, and reports an error only for the next write.
      if (bytesWritten < step.length) throw new StoreError(`the disk of ${this.#path} is full; free some space`);
      await this.#file.datasync();
    } catch (error) {
      await this.#file.truncate(this.#end).catch(() => undefined); // the step was not taken
      throw error;
    }
    this.#end += step.length;
  }

  /** A new file takes the place of the old one. */
  async replace(entries: readonly Uint8Array[]): Promise<void> {
    const step = encodeStep(entries);
    const bytes = new Uint8Array(MAGIC.length + step.length);
    bytes.set(MAGIC);
    bytes.set(step, MAGIC.length);
    await writeDurably(`${this.#path}.new`, bytes);
    await rename(`${this.#path}.new`, this.#path);
    await syncFolder(dirname(this.#path));
    const old = this.#file;
    this.#file = await open(this.#path, constants.O_RDWR);
    await old.close();
    this.#end = bytes.length;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

function encodeStep(entries: readonly Uint8Array[]): Uint8Array {
  const body = new ByteWriter();
  for (const entry of entries) body.u32(entry.length).bytes(entry);
  const bytes = body.finish();
  const check = nodeSuite.sha256(bytes).subarray(0, CHECK_BYTES);
  const step = new ByteWriter().u32(bytes.length).bytes(bytes).bytes(check).finish();
  return step;
}

function read(bytes: Uint8Array, path: string): { readonly end: number; readonly entries: Uint8Array[] } {
  const magic = bytes.subarray(0, MAGIC.length);
  if (equalBytes(magic, OLD_MAGIC)) {
    throw new StoreError(
      `${path} belongs to a device of BASA 0.3 or older, and version 1.0 starts afresh; enrol a new device in an empty folder`,
    );
  }
  if (!equalBytes(magic, MAGIC)) {
    throw new StoreError(`${path} was not written by this version; use another folder for this device`);
  }
  const entries: Uint8Array[] = [];
  let end = MAGIC.length;
  while (bytes.length - end >= 4) {
    const length = new ByteReader(bytes.subarray(end)).u32('length');
    const next = end + 4 + length + CHECK_BYTES;
    if (next > bytes.length) break; // torn: it was never acknowledged
    const body = bytes.subarray(end + 4, end + 4 + length);
    if (!equalBytes(nodeSuite.sha256(body).subarray(0, CHECK_BYTES), bytes.subarray(next - CHECK_BYTES, next))) {
      if (next === bytes.length) break;
      throw new StoreError(`${path} is damaged at byte ${end}; enrol a new device in an empty folder`);
    }
    const reader = new ByteReader(body);
    while (reader.remaining > 0) entries.push(reader.bytes('entry', reader.u32('entry length')).slice());
    end = next;
  }
  return { end, entries };
}

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
