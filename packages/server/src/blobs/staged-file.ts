/**
 * A file that is being written. Long runs of whole pages go from a block directly to the disk if the system supports it
 * (O_DIRECT): a copy in the system's memory costs more than all other work on an upload.
 */
import { constants, type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Staging } from './blob-store.ts';
import { isAligned, PAGE_BYTES } from './blocks.ts';
import type { DurableFolders } from './durable-folders.ts';
import { readFile } from './read-file.ts';

/** Folders that only their owner can access. */
export const PRIVATE = { recursive: true, mode: 0o700 } as const;
/** Fewer bytes are not worth a second descriptor. */
const MIN_DIRECT_BYTES = 64 * 1024;

export async function stageFile(path: string, destination: string, folders: DurableFolders): Promise<Staging> {
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
