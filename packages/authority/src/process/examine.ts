/** Reads the records of an authority while it may be running, for `basa doctor`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openPostgres, readDatabase, readOnlySqlite, SQLITE } from '@basa/service';
import { fleetsOf, type TaskFleet } from '../log/fleets.ts';
import { AUTHORITY_DATABASE, EMBEDDED_DATABASE } from '../store/store.ts';
import { AuthorityTables } from '../store/tables.ts';
import { fileWitness } from '../store/witness.ts';
import { type AuthorityOptions, placesOf } from './create-authority.ts';

export interface Examined {
  /** Missing if there are no records yet. */
  readonly records?: {
    readonly logLength: number;
    readonly clockAheadMs: number;
    readonly fleets: readonly TaskFleet[];
  };
  /** The length of the log when the witness last saw it; missing if there is no witness. */
  readonly witnessed?: number;
}

/** Throws a `StartError` if the records cannot be used. */
export async function examineAuthority(options: AuthorityOptions): Promise<Examined> {
  const { place, kept } = placesOf(options);
  const witnessed = (typeof kept === 'string' ? fileWitness(kept) : kept).read()?.sequence;
  const seen = witnessed === undefined ? {} : { witnessed };
  if ('dataFolder' in place && !existsSync(join(place.dataFolder, 'basa.sqlite'))) return seen;
  const database =
    'dataFolder' in place
      ? readOnlySqlite(readDatabase(place.dataFolder, EMBEDDED_DATABASE))
      : await openPostgres({ url: place.databaseUrl, ...AUTHORITY_DATABASE });
  try {
    const clockAheadMs = (await database.now()) - Date.now();
    const records = await database.transaction(async (session) => {
      const tables = new AuthorityTables(session, SQLITE);
      const { sequence } = await tables.end();
      return { logLength: sequence, clockAheadMs, fleets: await fleetsOf(tables) };
    });
    return { ...seen, records };
  } finally {
    await database.close();
  }
}
