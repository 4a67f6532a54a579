/** The records of a server from outside: backups, their examination for `basa doctor`, and the creation of tables. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { toHex } from '@basa/masking';
import type { UserId } from '@basa/protocol';
import {
  backupFolder,
  type ConfigPlaces,
  createPostgresTables,
  type Manifest,
  openDatabase,
  readDatabase,
  readOnlySqlite,
  restoreFolder,
  StartError,
} from '@basa/service';
import { type BodyPlace, lookInBodies } from '../blobs/place.ts';
import { KEY_FILE, openSharedStore } from '../store/open-store.ts';
import { EMBEDDED_DATABASE, SERVER_DATABASE } from '../store/schema.ts';
import { createStore, type Store } from '../store/store.ts';
import { shotKey } from '../uploads/body.ts';
import { bodyPlaceOf, readServerConfig, type ServerOptions } from './config.ts';

/** Backups of a server that runs on its own data folder, and the message if it runs on a database. */
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

export interface Examined {
  /** Missing if there are no records yet. */
  readonly records?: {
    /** The names of missing blobs. */
    readonly missing: readonly string[];
    /** The lead of the database's clock over this machine's. */
    readonly clockAheadMs: number;
    /** The devices that the authorities have revoked, as far as the server was told. */
    readonly revoked: readonly UserId[];
  };
}

/** Throws a `StartError` if the records cannot be used. */
export async function examineServer(options: ServerOptions): Promise<Examined> {
  const { dataFolder, database, authorities } = options;
  if (database === undefined && !existsSync(join(dataFolder, 'basa.sqlite'))) return {};
  const { store } =
    database === undefined
      ? { store: createStore(readOnlySqlite(readDatabase(dataFolder, EMBEDDED_DATABASE))) }
      : await openSharedStore(database, { onTrouble: () => {} });
  try {
    const clockAheadMs = database === undefined ? 0 : (await store.now()) - Date.now();
    const revoked = await Promise.all(authorities.map(({ publicKey }) => store.revocationsOf(publicKey)));
    return {
      records: { missing: await missingBlobs(store, bodyPlaceOf(options)), clockAheadMs, revoked: revoked.flat() },
    };
  } finally {
    await store.close();
  }
}

/** Finds blobs that a server's records name but that are missing. This happens only if they were removed from outside. */
async function missingBlobs(store: Store, place: BodyPlace): Promise<readonly string[]> {
  const missing: string[] = [];
  const blobs = await lookInBodies(place);
  try {
    for (const key of await neededBlobs(store)) if ((await blobs.size(key)) === undefined) missing.push(key);
  } finally {
    await blobs.close();
  }
  return missing;
}

/** Parameters of versions, and bodies of uploads. */
async function neededBlobs(store: Store): Promise<readonly string[]> {
  const models = await Promise.all((await store.taskStates()).map(({ task }) => store.modelBlobs(task)));
  return [...models.flat(), ...(await shotBlobs(store))];
}

/** The bodies of uploads that wait, or are in a batch that has not ended. */
async function shotBlobs(store: Store): Promise<readonly string[]> {
  const policies = new Map((await store.tasks()).map(({ task, policy }) => [toHex(task), policy]));
  return (await store.wholeShots()).flatMap(({ name, upload }) => {
    const policy = policies.get(toHex(upload.header.task));
    return policy === undefined ? [] : [shotKey(policy, name, upload)];
  });
}

/** Creates the tables of a server, for a database in which its own role may not. */
export async function createServerTables(places: ConfigPlaces): Promise<void> {
  const { database, dataFolder } = readServerConfig(places);
  if (database === undefined) openDatabase(dataFolder, EMBEDDED_DATABASE).close();
  else await createPostgresTables(database.url, SERVER_DATABASE);
}
