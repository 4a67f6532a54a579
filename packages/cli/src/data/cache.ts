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

/** The progress of a download. */
interface Progress {
  update(doneBytes: number): void;
  end(): void;
}

type StartProgress = (title: string, totalBytes: number) => Progress;

export interface CacheOptions {
  /** `BASA_CACHE` or a folder in the user's cache directory by default. */
  readonly folder?: string;
  readonly progress?: StartProgress;
  /** Aborts a download. */
  readonly signal?: AbortSignal;
}

export interface Cache {
  readonly folder: string;
  readonly progress: StartProgress;
  readonly signal?: AbortSignal | undefined;
}

export interface CachedFile {
  readonly name: string;
  readonly sha256: string;
}

export function openCache({ folder, progress, signal }: CacheOptions = {}): Cache {
  const { BASA_CACHE } = process.env;
  return { folder: folder ?? BASA_CACHE ?? defaultFolder(), progress: progress ?? showProgress, signal };
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

const BAR_COLUMNS = 30;

/** On standard error: a bar on a terminal, two lines otherwise. */
const showProgress: StartProgress = (title, totalBytes) => {
  const { stderr } = process;
  if (!stderr.isTTY) stderr.write(`${title}: ${megabytes(totalBytes)} ...\n`);
  const draw = (done: number): void => {
    const share = Math.min(1, done / totalBytes);
    const bar = '#'.repeat(Math.round(share * BAR_COLUMNS)).padEnd(BAR_COLUMNS, '.');
    stderr.write(`\r${title} [${bar}] ${Math.floor(100 * share)} % of ${megabytes(totalBytes)}`);
  };
  return {
    update: (done) => {
      if (stderr.isTTY) draw(done);
    },
    end: () => {
      if (stderr.isTTY) draw(totalBytes);
      stderr.write(stderr.isTTY ? '\n' : `${title}: done\n`);
    },
  };
};

export const noProgress: StartProgress = () => ({ update: () => undefined, end: () => undefined });

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
