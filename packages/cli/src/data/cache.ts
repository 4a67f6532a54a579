/**
 * Keeps files between runs, and checks each with its SHA-256. A missing, incomplete or changed file is made again. Files are written under
 * another name and renamed, so that readers never see an incomplete file.
 */
import { createHash, randomUUID } from 'node:crypto';
import { access, constants, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { DataError } from '@basa/learning/files';

/** The data could not be fetched: the registry does not answer, or the cache cannot be written. */
export class FetchError extends Error {
  override readonly name = 'FetchError';
}

/** Tells that a download begins, and that it is done. */
type Progress = (words: string) => void;

export interface CacheOptions {
  /** `BASA_CACHE` or a folder in the user's cache directory by default. */
  readonly folder?: string;
  readonly progress?: Progress;
  /** Aborts a download. */
  readonly signal?: AbortSignal;
}

export interface Cache {
  readonly folder: string;
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
}

export interface CachedFile {
  readonly name: string;
  readonly sha256: string;
}

export function openCache({ folder, progress, signal }: CacheOptions = {}): Cache {
  const { BASA_CACHE } = process.env;
  return { folder: folder ?? BASA_CACHE ?? defaultFolder(), progress: progress ?? onStandardError, signal };
}

function defaultFolder(): string {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env;
  if (process.platform === 'win32') return join(LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'basa', 'Cache');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'basa');
  return join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'basa');
}

/** Creates the folder if it is missing. */
export async function makeFolder({ folder }: Pick<Cache, 'folder'>): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new FetchError(
      `data cannot be stored in ${folder} (${code}); set the variable BASA_CACHE to a folder that you can write to`,
      { cause: error },
    );
  }
}

/** Returns the bytes of the files; if one of them is missing or wrong, `make` makes all of them again. */
export async function loadCached(
  cache: Cache,
  files: readonly CachedFile[],
  make: () => Promise<ReadonlyMap<string, Uint8Array>>,
): Promise<readonly Uint8Array[]> {
  const kept = await Promise.all(files.map((file) => readIfRight(cache, file)));
  if (kept.every((bytes) => bytes !== undefined)) return kept;
  const made = await make();
  const right = files.map(({ name, sha256 }) => {
    const bytes = made.get(name);
    if (bytes === undefined) throw new DataError(name, 0, 'is not in the package');
    if (digest(bytes) !== sha256) throw new DataError(name, 0, `its SHA-256 is ${digest(bytes)}, not ${sha256}`);
    return { name, bytes };
  });
  await makeFolder(cache);
  for (const { name, bytes } of right) await replaceFile(join(cache.folder, name), bytes);
  return right.map(({ bytes }) => bytes);
}

async function readIfRight({ folder }: Cache, { name, sha256 }: CachedFile): Promise<Uint8Array | undefined> {
  const bytes = await readFile(join(folder, name)).catch(() => undefined);
  if (bytes === undefined) return undefined;
  if (digest(bytes) === sha256) return bytes;
  process.stderr.write(`${join(folder, name)} is damaged or incomplete; downloading it again\n`);
  return undefined;
}

async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  const draft = `${path}.${randomUUID()}.part`;
  try {
    await writeFile(draft, bytes);
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

export function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const onStandardError: Progress = (words) => void process.stderr.write(`${words}\n`);

export const noProgress: Progress = () => undefined;
