/** Blobs as files: written beside, flushed, renamed, and the folders flushed, so that a name never shows half a blob. */
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BlobStore, Staging } from './blob-store.ts';
import { checkedKey } from './blob-store.ts';
import { DurableFolders } from './durable-folders.ts';
import { readFile } from './read-file.ts';
import { stageFile } from './staged-file.ts';

export async function openFileBlobs(folder: string): Promise<BlobStore> {
  const incoming = join(folder, 'incoming');
  await mkdir(incoming, { recursive: true });
  const folders = new DurableFolders(folder);
  const pathOf = (key: string): string => join(folder, checkedKey(key));
  const stagedPathOf = (key: string): string => join(incoming, checkedKey(key));
  const stage = async (key: string, attempt?: string): Promise<Staging> => {
    const path = stagedPathOf(attempt === undefined ? key : `${key}-${attempt}`);
    await mkdir(dirname(path), { recursive: true });
    return stageFile(path, pathOf(key), folders);
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
      folders.forget(pathOf(key));
      for (const path of [stagedPathOf(key), pathOf(key)]) await rm(path, { force: true, recursive: true });
    },
    async namesBelow(key) {
      const lists = [stagedPathOf(key), pathOf(key)].map(async (path) => (await existing(readdir(path))) ?? []);
      return [...new Set((await Promise.all(lists)).flat())];
    },
    close: async () => {},
  };
}

async function existing<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
