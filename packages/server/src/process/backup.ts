/** Backups of a server that runs on its own data folder, and the message if it runs on a database. */
import { join } from 'node:path';
import {
  backupFolder,
  type ConfigPlaces,
  type Manifest,
  readDatabase,
  readOnlySqlite,
  restoreFolder,
  StartError,
} from '@basa/service';
import type { BodyPlace } from '../blobs/place.ts';
import { EMBEDDED_DATABASE } from '../store/schema.ts';
import { KEY_FILE } from '../store/server-key.ts';
import { createStore } from '../store/store.ts';
import { readServerConfig } from './config.ts';
import { missingBlobs } from './needed-blobs.ts';

export function backupServer(places: ConfigPlaces, to: string): Promise<Manifest> {
  return backupFolder({
    dataFolder: folderOf(places),
    to,
    database: EMBEDDED_DATABASE,
    named: { folder: 'blobs', changing: 'incoming' },
    files: [KEY_FILE],
    isWhole: async (copy) => {
      const blobs = { kind: 'files', folder: join(copy, 'blobs') } as const;
      return (await missingFrom(copy, { blobs, rows: { folder: copy } })).length === 0;
    },
  });
}

export function restoreServer(places: ConfigPlaces, from: string): Promise<Manifest> {
  return restoreFolder({ application: 'server', from, dataFolder: folderOf(places) });
}

/** Returns the blobs that the records in a folder name but that are missing. */
async function missingFrom(folder: string, place: BodyPlace): Promise<readonly string[]> {
  const store = createStore(readOnlySqlite(readDatabase(folder, EMBEDDED_DATABASE)));
  try {
    return await missingBlobs(store, place);
  } finally {
    await store.close();
  }
}

function folderOf(places: ConfigPlaces): string {
  const { dataFolder, database, blobs } = readServerConfig(places);
  if (database !== undefined)
    throw new StartError(
      'configuration',
      'this server uses a PostgreSQL database; back that up with pg_dump, then its blobs if they are stored elsewhere, and store signingKey separately',
    );
  if (blobs !== undefined)
    throw new StartError(
      'configuration',
      'the blobs of this server are in an object store; stop the server, copy dataFolder, and back up the bucket',
    );
  return dataFolder;
}
