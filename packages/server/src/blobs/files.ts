/** Blobs as files: written beside, flushed, renamed, and the folder flushed, so that a name never shows half a blob. */
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BlobStore, Staging } from './blob-store.ts';

const BLOCK_BYTES = 512 * 1024;

export async function openFileBlobs(folder: string): Promise<BlobStore> {
  const incoming = join(folder, 'incoming');
  await mkdir(incoming, { recursive: true });
  const pathOf = (key: string): string => join(folder, checkedKey(key));
  const stagedPathOf = (key: string): string => join(incoming, checkedKey(key));
  const stage = async (key: string): Promise<Staging> => {
    const path = stagedPathOf(key);
    await mkdir(dirname(path), { recursive: true });
    return stageFile(path, pathOf(key));
  };
  return {
    stage,
    async put(key, bytes) {
      const staging = await stage(key);
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
    async removeBelow(key) {
      for (const path of [stagedPathOf(key), pathOf(key)]) await rm(path, { force: true, recursive: true });
    },
    async namesBelow(key) {
      const lists = [stagedPathOf(key), pathOf(key)].map(async (path) => (await existing(readdir(path))) ?? []);
      return [...new Set((await Promise.all(lists)).flat())];
    },
  };
}

/** Keys are our own words, never a client's; a path that climbs is a fault of ours. */
function checkedKey(key: string): string {
  if (!/^[a-z0-9-]+(\/[a-z0-9-]+)*$/.test(key)) throw new RangeError(`not the name of a blob: ${JSON.stringify(key)}`);
  return key;
}

async function stageFile(path: string, destination: string): Promise<Staging> {
  const file = await open(path, 'a+', 0o600);
  let { size } = await file.stat();
  return {
    get size() {
      return size;
    },
    async append(...pieces) {
      let left: readonly Uint8Array[] = pieces.filter(({ length }) => length > 0);
      while (left.length > 0) {
        const { bytesWritten } = await file.writev(left);
        size += bytesWritten;
        left = after(left, bytesWritten);
      }
    },
    async truncate(to) {
      if (to !== size) await file.truncate(to);
      size = to;
    },
    flush: () => file.datasync(),
    read: (start, end) => readFile(file, start, end),
    async commit() {
      const folder = dirname(destination);
      const [first] = await Promise.all([mkdir(folder, { recursive: true }), file.datasync()]);
      await file.close();
      await rename(path, destination);
      // Side by side, so that the file system may write them together.
      await Promise.all([flushFolder(folder), ...(first === undefined ? [] : [flushFolder(dirname(first))])]);
    },
    async discard() {
      await file.close();
      await rm(path, { force: true });
    },
    close: () => file.close(),
  };
}

async function* readFile(file: FileHandle, start: number, end: number): AsyncIterable<Uint8Array> {
  const block = new Uint8Array(Math.min(BLOCK_BYTES, Math.max(0, end - start)));
  for (let at = start; at < end; ) {
    const { bytesRead } = await file.read(block, 0, Math.min(block.length, end - at), at);
    if (bytesRead === 0) throw new Error(`the blob ends at ${at}, ${end - at} bytes early`);
    yield block.subarray(0, bytesRead);
    at += bytesRead;
  }
}

/** What is left of the pieces after so many bytes. */
function after(pieces: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let skip = bytes;
  return pieces.flatMap((piece) => {
    const taken = Math.min(skip, piece.length);
    skip -= taken;
    return taken === piece.length ? [] : [piece.subarray(taken)];
  });
}

async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
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
