/** All records of a server, over SQL: every method is one transaction, durable when its promise is fulfilled. */
import { column, type Row, type SqlDatabase } from '@basa/service';
import { epochTables, revocationTables } from './authorities.ts';
import { batchTables } from './batches.ts';
import { modelTables, statisticsTables } from './models.ts';
import { pieceTables } from './pieces.ts';
import { pendingShotTables, shotTables } from './shots.ts';
import { leaseTables } from './sql.ts';
import { taskTables } from './tasks.ts';

const SET_NOTE = 'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value';

export type Store = ReturnType<typeof createStore>;

/** `purge`: for a database that keeps deleted data until it is told to remove it. */
export function createStore(database: SqlDatabase, purge: () => Promise<void> = async () => {}) {
  return {
    ...taskTables(database),
    ...shotTables(database),
    ...pendingShotTables(database),
    ...batchTables(database),
    ...epochTables(database),
    ...revocationTables(database),
    ...pieceTables(database),
    ...modelTables(database),
    ...statisticsTables(database),
    ...leaseTables(database),
    ...noteTables(database),
    /** Called after a permanent deletion, so that the deleted data is also removed from files that the service controls. */
    purge,
    close: () => database.close(),
  };
}

function noteTables(database: SqlDatabase) {
  const noteOf = ([row]: readonly Row[]) => (row === undefined ? undefined : column.bytes(row, 'value'));
  return {
    /** The clock by which leases are judged. */
    now: (): Promise<number> => database.now(),
    note: async (name: string): Promise<Uint8Array | undefined> =>
      noteOf(await database.query('SELECT value FROM meta WHERE name = ?', name)),
    async setNote(name: string, value: Uint8Array): Promise<void> {
      await database.query(SET_NOTE, name, value);
    },
    /** Sets the note to the result of `change`; undefined leaves it. */
    changeNote: (name: string, change: (before: Uint8Array | undefined) => Uint8Array | undefined): Promise<void> =>
      database.transaction(async ({ query }) => {
        const locked = `SELECT value FROM meta WHERE name = ?${database.dialect.forUpdate}`;
        const value = change(noteOf(await query(locked, name)));
        if (value !== undefined) await query(SET_NOTE, name, value);
      }),
  };
}
