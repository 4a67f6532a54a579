/** Reads the records of an authority while it may be running, for `basa doctor`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readDatabase, readOnlySqlite } from '@basa/service';
import { fleetsOf, type TaskFleet } from '../log/fleets.ts';
import { AUTHORITY_DATABASE } from '../store/store.ts';
import { AuthorityTables } from '../store/tables.ts';
import { fileWitness } from '../store/witness.ts';
import { type AuthorityOptions, witnessOf } from './create-authority.ts';

export interface Examined {
  /** Missing if there are no records yet. */
  readonly records?: {
    readonly logLength: number;
    readonly fleets: readonly TaskFleet[];
  };
  /** The length of the log when the witness last saw it; missing if there is no witness. */
  readonly witnessed?: number;
}

/** Throws a `StartError` if the records cannot be used. */
export async function examineAuthority(options: AuthorityOptions): Promise<Examined> {
  const { dataFolder } = options;
  const kept = witnessOf(options);
  const witnessed = (typeof kept === 'string' ? fileWitness(kept) : kept).read()?.sequence;
  const seen = witnessed === undefined ? {} : { witnessed };
  if (!existsSync(join(dataFolder, 'basa.sqlite'))) return seen;
  const database = readOnlySqlite(readDatabase(dataFolder, AUTHORITY_DATABASE));
  try {
    const records = await database.transaction(async (session) => {
      const tables = new AuthorityTables(session);
      const { sequence } = await tables.end();
      return { logLength: sequence, fleets: await fleetsOf(tables) };
    });
    return { ...seen, records };
  } finally {
    await database.close();
  }
}
