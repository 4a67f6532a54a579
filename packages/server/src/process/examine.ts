/** Reads the records of a server while it may be running, for `basa doctor`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openSharedStore } from '../store/open-store.ts';
import { missingFrom } from './backup.ts';
import { missingBlobs } from './needed-blobs.ts';
import { bodyPlaceOf, type ServerOptions } from './settings.ts';

export interface Examined {
  /** Missing if there are no records yet. */
  readonly records?: {
    /** The names of missing blobs. */
    readonly missing: readonly string[];
    /** The lead of the database's clock over this machine's. */
    readonly clockAheadMs: number;
  };
}

/** Throws a `StartError` if the records cannot be used. */
export async function examineServer(options: ServerOptions): Promise<Examined> {
  const { dataFolder, database } = options;
  if (database === undefined) {
    if (!existsSync(join(dataFolder, 'basa.sqlite'))) return {};
    return { records: { missing: await missingFrom(dataFolder, bodyPlaceOf(options)), clockAheadMs: 0 } };
  }
  const { store } = await openSharedStore(database, { onTrouble: () => {} });
  try {
    const clockAheadMs = (await store.now()) - Date.now();
    return { records: { missing: await missingBlobs(store, bodyPlaceOf(options)), clockAheadMs } };
  } finally {
    await store.close();
  }
}
