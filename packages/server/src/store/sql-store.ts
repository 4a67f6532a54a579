/** The store over SQL: what server tables hold, as one object. */
import { column, type Row, type SqlDatabase, type SqlValue } from '@basa/service';
import { sqlBuffers } from './sql-buffers.ts';
import { sqlModels } from './sql-models.ts';
import { sqlNodes } from './sql-nodes.ts';
import { sqlPieces } from './sql-pieces.ts';
import { sqlRevocations } from './sql-revocations.ts';
import { sqlSlots } from './sql-slots.ts';
import { sqlSuspicions } from './sql-suspicions.ts';
import { sqlTasks } from './sql-tasks.ts';
import type { Store } from './store.ts';

const SET_NOTE = 'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value';

export function createSqlStore(database: SqlDatabase): Store {
  const noteOf = ([row]: readonly Row[]) => (row === undefined ? undefined : column.bytes(row, 'value'));
  return {
    ...sqlTasks(database),
    ...sqlBuffers(database),
    ...sqlSlots(database),
    ...sqlRevocations(database),
    ...sqlSuspicions(database),
    ...sqlPieces(database),
    ...sqlModels(database),
    ...sqlNodes(database),
    now: () => database.now(),
    note: async (name) => noteOf(await database.query('SELECT value FROM meta WHERE name = ?', name)),
    setNote: (name, value) => run(database, SET_NOTE, name, value),
    changeNote: (name, change) =>
      database.transaction(async ({ query }) => {
        const locked = `SELECT value FROM meta WHERE name = ?${database.dialect.forUpdate}`;
        const value = change(noteOf(await query(locked, name)));
        if (value !== undefined) await query(SET_NOTE, name, value);
      }),
    close: () => database.close(),
  };
}

async function run(database: SqlDatabase, statement: string, ...values: readonly SqlValue[]): Promise<void> {
  await database.query(statement, ...values);
}
