/** Blobs as files: written under a temporary name, flushed and renamed, with the folders flushed, so that a name never shows half a blob. */
import { randomUUID } from 'node:crypto';
import { constants, type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { flushNames, groupFlush } from '@basa/service/durable-names';
import { type BlobStore, checkedKey, type Staging } from './blob-store.ts';
import { isAligned, PAGE_BYTES } from './write-behind.ts';

/** Remains of a blob that a crashed node put are removed after this time; no put takes that long. */
const LEFT_AFTER_MS = 24 * 3_600_000;

/** Blobs as files: written under a temporary name, flushed and renamed, with the folders flushed, so that a name never shows half a blob. */
export function openFileBlobs(folder: string): Promise<BlobStore> {
  return openFolder(folder);
}

/** To look only: makes no folder. */
export async function sizeOfFile(folder: string, key: string): Promise<number | undefined> {
  return (await existing(stat(join(folder, checkedKey(key)))))?.size;
}

/** A folder that other nodes write into as well: puts are staged under a unique name. */
export async function openSharedFileBlobs(folder: string): Promise<BlobStore> {
  const putting = join(folder, 'putting');
  await sweep(putting);
  return openFolder(folder, (end, folders) => stageFile(join(putting, randomUUID()), end, folders));
}

/** `stagePut`: the staging of puts; by default the same as for everything else. */
async function openFolder(
  folder: string,
  stagePut?: (end: string, folders: DurableFolders) => Promise<Staging>,
): Promise<BlobStore> {
  const incoming = join(folder, 'incoming');
  await mkdir(incoming, PRIVATE);
  flushNames(dirname(folder)); // the parent of all blobs
  const folders = new DurableFolders(folder);
  const pathOf = (key: string): string => join(folder, checkedKey(key));
  const stagedPathOf = (key: string): string => join(incoming, checkedKey(key));
  const stage = async (key: string, attempt?: string): Promise<Staging> => {
    const path = stagedPathOf(attempt === undefined ? key : `${key}-${attempt}`);
    await mkdir(dirname(path), PRIVATE);
    return stageFile(path, pathOf(key), folders);
  };
  return {
    stage,
    async put(key, bytes) {
      const staging = await (stagePut?.(pathOf(key), folders) ?? stage(key));
      try {
        if (staging.size > 0) await staging.truncate(0);
        await staging.append(bytes);
        await staging.commit();
      } catch (error) {
        await staging.discard();
        throw error;
      }
    },
    async size(key) {
      return (await existing(stat(pathOf(key))))?.size;
    },
    async *read(key, start, end) {
      const file = await open(pathOf(key), 'r');
      try {
        yield* readFile(file, start, end);
      } finally {
        await file.close();
      }
    },
    remove: (key) => rm(pathOf(key), { force: true }),
    async removeBelow(...keys) {
      for (const key of keys) {
        folders.forget(pathOf(key));
        for (const path of [stagedPathOf(key), pathOf(key)]) await rm(path, { force: true, recursive: true });
      }
    },
    async namesBelow(key) {
      const lists = [stagedPathOf(key), pathOf(key)].map(async (path) => (await existing(readdir(path))) ?? []);
      return [...new Set((await Promise.all(lists)).flat())];
    },
    close: async () => {},
  };
}

/** Creates the folder if it is missing, and removes old files in it. */
async function sweep(folder: string): Promise<void> {
  await mkdir(folder, PRIVATE);
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const file = await existing(stat(path)); // another node may sweep as well
    if (file !== undefined && file.mtimeMs < Date.now() - LEFT_AFTER_MS) await rm(path, { force: true });
  }
}

async function existing<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Folders that only their owner can access. */
const PRIVATE = { recursive: true, mode: 0o700 } as const;
/** Fewer bytes are not worth a second descriptor. */
const MIN_DIRECT_BYTES = 64 * 1024;

/**
 * A file that is being written. Long runs of whole pages go from a block directly to the disk if the system supports it
 * (O_DIRECT): a copy in the system's memory costs more than all other work on an upload.
 */
async function stageFile(path: string, destination: string, folders: DurableFolders): Promise<Staging> {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  let { size } = await file.stat();
  const direct = new DirectFile(path);
  const writeSome = async (bytes: Uint8Array): Promise<number> => {
    const pages = bytes.length - (bytes.length % PAGE_BYTES);
    if (pages >= MIN_DIRECT_BYTES && size % PAGE_BYTES === 0 && isAligned(bytes)) {
      const written = await direct.write(bytes.subarray(0, pages), size);
      if (written !== undefined) return written;
    }
    return (await file.write(bytes, 0, bytes.length, size)).bytesWritten;
  };
  const close = async (): Promise<void> => {
    await Promise.all([direct.close(), file.close()]);
  };
  return {
    get size() {
      return size;
    },
    async append(bytes) {
      const end = size + bytes.length;
      while (size < end) size += await writeSome(bytes.subarray(bytes.length - (end - size)));
    },
    async truncate(to) {
      if (to !== size) await file.truncate(to);
      size = to;
    },
    flush: () => file.datasync(),
    read: (start, end) => readFile(file, start, end),
    async commit() {
      const folder = dirname(destination);
      await Promise.all([mkdir(folder, PRIVATE), file.datasync()]);
      await close();
      await rename(path, destination);
      await folders.flush(folder);
    },
    async discard() {
      await close();
      await rm(path, { force: true });
    },
    close,
  };
}

/** The same file without the system's page cache; opened on first use, and abandoned if the system refuses. */
class DirectFile {
  readonly #path: string;
  #file: FileHandle | 'unopened' | 'refused' = constants.O_DIRECT === undefined ? 'refused' : 'unopened';

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the number of bytes written; undefined if direct writes are not possible here. */
  async write(pages: Uint8Array, position: number): Promise<number | undefined> {
    if (this.#file === 'refused') return undefined;
    try {
      if (this.#file === 'unopened') this.#file = await open(this.#path, constants.O_WRONLY | constants.O_DIRECT);
      return (await this.#file.write(pages, 0, pages.length, position)).bytesWritten;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
      await this.close();
      return undefined;
    }
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = 'refused';
    if (typeof file !== 'string') await file.close();
  }
}

const BLOCK_BYTES = 512 * 1024;

/** A block is valid until the next one is requested. */
async function* readFile(file: FileHandle, start: number, end: number): AsyncIterable<Uint8Array> {
  const block = new Uint8Array(Math.min(BLOCK_BYTES, Math.max(0, end - start)));
  for (let at = start; at < end; ) {
    const { bytesRead } = await file.read(block, 0, Math.min(block.length, end - at), at);
    if (bytesRead === 0) throw new Error(`the blob ends at ${at}, ${end - at} bytes early`);
    yield block.subarray(0, bytesRead);
    at += bytesRead;
  }
}

/**
 * The folders that are known to survive a power cut. The name of a folder is stored in its parent, so the parent must be flushed too. Every
 * process that relies on the folder must do this, not only the process that made it.
 */
class DurableFolders {
  readonly #root: string;
  readonly #known = new Set<string>();
  /** Many uploads add files to one folder at the same time, and share its flush. */
  readonly #flushes = new Map<string, () => Promise<void>>();

  /** The root itself exists permanently. */
  constructor(root: string) {
    this.#root = root;
  }

  /** The names in this folder, and the folder itself, survive from now on. */
  async flush(folder: string): Promise<void> {
    const unknown: string[] = [];
    for (let at = folder; at !== this.#root && !this.#known.has(at); at = dirname(at)) unknown.push(at);
    // In parallel, so that the file system may write them together.
    await Promise.all([...new Set([folder, ...unknown.map((one) => dirname(one))])].map((one) => this.#flush(one)));
    for (const one of unknown) this.#known.add(one);
  }

  /** The folder is removed, with everything below. */
  forget(folder: string): void {
    for (const names of [this.#known, this.#flushes])
      for (const one of names.keys()) if (one === folder || one.startsWith(folder + sep)) names.delete(one);
  }

  #flush(folder: string): Promise<void> {
    const flush = this.#flushes.get(folder) ?? groupFlush(() => flushFolder(folder));
    this.#flushes.set(folder, flush);
    return flush();
  }
}

async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
