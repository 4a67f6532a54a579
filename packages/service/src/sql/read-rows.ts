/** `@basa/service/read-rows`: reads the database of a data folder, for threads that load nothing else of a service. */

import { openUnchecked } from './database.ts';
import type { SqlDatabase } from './sql.ts';
import { readOnlySqlite } from './sqlite.ts';

export { column } from './sql.ts';

/** For use in addition to the process that has opened and checked the database. */
export function readEmbedded(folder: string): SqlDatabase {
  return readOnlySqlite(openUnchecked(folder));
}
