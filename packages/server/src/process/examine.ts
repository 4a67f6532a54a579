/** Reads the records of a server while it may be running, for `basa doctor`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { UserId } from '@basa/protocol';
import { readDatabase, readOnlySqlite } from '@basa/service';
import { openSharedStore } from '../store/open-store.ts';
import { EMBEDDED_DATABASE } from '../store/schema.ts';
import { createStore } from '../store/store.ts';
import { missingBlobs } from './needed-blobs.ts';
import { bodyPlaceOf, type ServerOptions } from './settings.ts';

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
