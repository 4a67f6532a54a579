/** Backups of a server that runs on its own data folder, and what is said where it runs on a database. */
import { join } from 'node:path';
import type { Manifest } from '@basa/service';
import { backupFolder, readDatabase, restoreFolder, StartError, sqliteDatabase } from '@basa/service';
import { openFileBlobs } from './blobs/files.ts';
import type { ConfigPlaces } from './config.ts';
import { readServerConfig } from './config.ts';
import { missingBlobs } from './needed-blobs.ts';
import { EMBEDDED_DATABASE } from './open-store.ts';
import { KEY_FILE } from './server-key.ts';
import { createSqlStore } from './store/sql-store.ts';

export function backupServer(places: ConfigPlaces, to: string): Promise<Manifest> {
  return backupFolder({
    dataFolder: folderOf(places),
    to,
    database: EMBEDDED_DATABASE,
    named: { folder: 'blobs', changing: 'incoming' },
    files: [KEY_FILE],
    isWhole: async (copy) => (await missingInFolder(copy)).length === 0,
  });
}

export function restoreServer(places: ConfigPlaces, from: string): Promise<Manifest> {
  return restoreFolder({ application: 'server', from, dataFolder: folderOf(places) });
}

/** The blobs that the records of a data folder name and that are not there. */
export async function missingInFolder(folder: string): Promise<readonly string[]> {
  const store = createSqlStore(sqliteDatabase(readDatabase(folder, EMBEDDED_DATABASE), Date.now, 'BEGIN'));
  const blobs = await openFileBlobs(join(folder, 'blobs'));
  try {
    return await missingBlobs(store, blobs);
  } finally {
    await store.close();
    await blobs.close();
  }
}

function folderOf(places: ConfigPlaces): string {
  const { dataFolder, database } = readServerConfig(places);
  if (database === undefined) return dataFolder;
  throw new StartError(
    'configuration',
    'the server runs on a database: back it up with pg_dump, copy the folder blobs of dataFolder afterwards, and keep signingKey apart from both',
  );
}
