/** Blobs as files: written under a temporary name, flushed and renamed, with the folders flushed, so that a name never shows half a blob. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { flushNames } from '@basa/service/durable-names';
import { type BlobStore, checkedKey, type Staging } from './blob-store.ts';
import { DurableFolders } from './durable-folders.ts';
import { readFile } from './read-file.ts';
import { PRIVATE, stageFile } from './staged-file.ts';

/** Remains of a blob that a crashed node put are removed after this time; no put takes that long. */
const LEFT_AFTER_MS = 24 * 3_600_000;

export function openFileBlobs(folder: string): Promise<BlobStore> {
  return openFolder(folder);
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
