/** Makes a data folder from a backup: a complete one, or one on which no service starts. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DATABASE_FILE, takeLock } from '../sql/database.ts';
import type { Application } from '../sql/formats.ts';
import { needEmpty } from './backup.ts';
import { copyDurably, flush } from './files.ts';
import { checkManifest, type Manifest } from './manifest.ts';

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
