/** A backup of a data folder while its service runs: the database as of one moment, and the files that it names. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '../process/start-error.ts';
import { copyDatabase, DATABASE_FILE } from '../sql/database.ts';
import type { DatabaseOptions } from '../sql/formats.ts';
import { copyDurably, filesBelow, flush } from './files.ts';
import { type Manifest, writeManifest } from './manifest.ts';

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
export async function needEmpty(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new StartError('dataFolder', `${folder} cannot be used (${error.code}); check the path and its permissions`);
  });
  if (names.length > 0)
    throw new StartError('dataFolder', `${folder} is not empty, and nothing was changed; give another folder`);
}
