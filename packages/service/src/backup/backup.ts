/** Backups of a data folder while its service runs, their manifest, and the way back to a folder. */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, constants, copyFile, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { closed, hexText } from '../http/messages.ts';
import { StartError } from '../process/start-error.ts';
import { copyDatabase, DATABASE_FILE, takeLock } from '../sql/database.ts';
import type { Application, DatabaseOptions } from '../sql/sql.ts';

// The contents of a backup, with a hash for every file. It is written last: a folder without it is not a backup.

const MANIFEST_FILE = 'manifest.json';

const schema = Type.Object(
  {
    version: Type.Literal(1),
    application: Type.Union([Type.Literal('server'), Type.Literal('authority')]),
    madeAt: Type.String(),
    files: Type.Array(
      Type.Object({ path: Type.String(), bytes: Type.Integer({ minimum: 0 }), sha256: hexText(32) }, closed),
    ),
  },
  closed,
);
const checker = Compile(schema);

export type Manifest = Type.Static<typeof schema>;

async function writeManifest(folder: string, application: Application): Promise<Manifest> {
  const paths = [...(await filesBelow(folder))].sort();
  const files: Manifest['files'] = [];
  for (const path of paths) files.push({ path, ...(await hashOf(join(folder, path))) });
  const manifest: Manifest = { version: 1, application, madeAt: new Date().toISOString(), files };
  const fresh = join(folder, `${MANIFEST_FILE}.new`);
  await writeFile(fresh, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  await flush(fresh);
  await rename(fresh, join(folder, MANIFEST_FILE));
  await flush(folder);
  return manifest;
}

/** Throws a `StartError` if it is not a backup of this service, or if a file is missing or damaged. */
async function checkManifest(folder: string, application: Application): Promise<Manifest> {
  const manifest = await readManifest(folder);
  if (manifest.application !== application)
    throw new StartError(
      'dataFolder',
      `${folder} is a backup of the ${manifest.application}, not of the ${application}; give another folder`,
    );
  for (const { path, bytes, sha256 } of manifest.files) {
    const found = await hashOf(join(folder, checkedPath(folder, path))).catch(() => undefined);
    if (found === undefined) throw damaged(folder, `${path} is missing`);
    if (found.bytes !== bytes || found.sha256 !== sha256) throw damaged(folder, `${path} was changed since the backup`);
  }
  return manifest;
}

async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, MANIFEST_FILE), 'utf8').catch(() => undefined);
  if (text === undefined)
    throw new StartError(
      'dataFolder',
      `${folder} has no ${MANIFEST_FILE}, so it is not a complete backup; give another folder`,
    );
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw damaged(folder, `${MANIFEST_FILE} is not JSON`);
  }
  if (!checker.Check(parsed)) throw damaged(folder, `this version does not know the format of ${MANIFEST_FILE}`);
  return parsed;
}

/** Rejects paths outside the folder, so that a manifest that was tampered with cannot write anywhere else. */
function checkedPath(folder: string, path: string): string {
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..' || part.includes('\\')))
    throw damaged(folder, `${MANIFEST_FILE} names ${JSON.stringify(path)}`);
  return path;
}

function damaged(folder: string, what: string): StartError {
  return new StartError('dataFolder', `the backup in ${folder} is damaged: ${what}; use another backup`);
}

// Copies of files that are on disk when the promise is fulfilled, and their hashes.

/** Returns false if the file no longer exists. */
async function copyDurably(from: string, to: string): Promise<boolean> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await rm(to, { force: true });
    return false;
  }
  await chmod(to, 0o600);
  await flush(to);
  return true;
}

/** Flushes a file or a folder. */
async function flush(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Returns the paths below a folder, or an empty list if the folder does not exist. Files may be added or removed during the call. */
async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const lists = entries.map(async (entry) => {
    if (!entry.isDirectory()) return [entry.name];
    return (await filesBelow(join(folder, entry.name))).map((path) => `${entry.name}/${path}`);
  });
  return (await Promise.all(lists)).flat();
}

async function hashOf(path: string): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const block of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(block);
    bytes += block.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

// A backup of a data folder while its service runs: the database as of one moment, and the files that it names.

export interface BackupOptions {
  readonly dataFolder: string;
  /** A folder that is empty or does not exist yet. */
  readonly to: string;
  readonly database: DatabaseOptions;
  /** Immutable files of the data folder that the database may name; `changing` is a part of their path. */
  readonly named?: { readonly folder: string; readonly changing: string };
  /** Other files of the data folder. */
  readonly files?: readonly string[];
  /** True if the copy has everything that its database names. */
  isWhole?(copy: string): Promise<boolean>;
}

const MAX_TRIES = 5;

export async function backupFolder(options: BackupOptions): Promise<Manifest> {
  const { dataFolder, to, database, files = [], isWhole } = options;
  await needEmpty(to);
  await mkdir(to, { recursive: true, mode: 0o700 });
  const path = join(to, DATABASE_FILE);
  for (let tries = 1; ; tries++) {
    await rm(path, { force: true });
    await copyNamed(options, 'before');
    copyDatabase(dataFolder, database, path);
    await flush(path);
    await copyNamed(options, 'after');
    if (isWhole === undefined || (await isWhole(to))) break;
    if (tries === MAX_TRIES)
      throw new StartError(
        'dataFolder',
        `${dataFolder} lacks files that its database names; run \`basa doctor\` for details`,
      );
  }
  for (const file of files)
    if (!(await copyDurably(join(dataFolder, file), join(to, file))))
      throw new StartError(
        'dataFolder',
        `${join(dataFolder, file)} is missing, and a backup without it would be useless; restore it first`,
      );
  return writeManifest(to, database.application);
}

/** Files that disappear while the database is copied were copied before it. Files that are new in it are copied after it. */
async function copyNamed({ dataFolder, to, named }: BackupOptions, when: 'before' | 'after'): Promise<void> {
  if (named === undefined) return;
  const { folder, changing } = named;
  const isChanging = (path: string): boolean => path.startsWith(`${changing}/`);
  if (when === 'after') {
    await rm(join(to, folder, changing), { recursive: true, force: true });
    for (const path of await filesBelow(join(dataFolder, folder, changing)))
      await copyDurably(join(dataFolder, folder, changing, path), join(to, folder, changing, path));
  }
  const known = new Set(await filesBelow(join(to, folder)));
  for (const path of await filesBelow(join(dataFolder, folder)))
    if (!isChanging(path) && !known.has(path))
      await copyDurably(join(dataFolder, folder, path), join(to, folder, path));
}

/** Throws if the folder is not empty. */
async function needEmpty(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new StartError('dataFolder', `${folder} cannot be used (${error.code}); check the path and its permissions`);
  });
  if (names.length > 0)
    throw new StartError('dataFolder', `${folder} is not empty, and nothing was changed; give another folder`);
}

// Makes a data folder from a backup: a complete one, or one on which no service starts.

export interface RestoreOptions {
  readonly application: Application;
  readonly from: string;
  /** Empty, or does not exist yet. */
  readonly dataFolder: string;
}

export async function restoreFolder({ application, from, dataFolder }: RestoreOptions): Promise<Manifest> {
  const manifest = await checkManifest(from, application);
  await needEmpty(dataFolder);
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  const lock = takeLock(dataFolder);
  try {
    const database = join(dataFolder, DATABASE_FILE);
    // No service starts on half a folder: this file is not a database until the real one takes its place.
    await writeFile(database, 'The restore of this folder was interrupted. Empty the folder and restore again.\n', {
      mode: 0o600,
    });
    await flush(dataFolder);
    for (const { path } of manifest.files)
      await copyDurably(join(from, path), path === DATABASE_FILE ? `${database}.new` : join(dataFolder, path));
    await rename(`${database}.new`, database);
    await flush(dataFolder);
  } finally {
    lock.close();
  }
  return manifest;
}
