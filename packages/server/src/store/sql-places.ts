/** Places of devices that are under way, shared by the nodes of one database. */
import type { SqlDatabase } from '@basa/service';
import { column } from '@basa/service';
import type { NodeStore } from './node-store.ts';

const TAKE = 'INSERT INTO places (task, usr, ends_at) VALUES (?, ?, ?)';

export function sqlPlaces(
  database: SqlDatabase,
): Pick<NodeStore, 'takePlace' | 'hasPlace' | 'endPlace' | 'countPlaces'> {
  const { forUpdate } = database.dialect;
  return {
    takePlace: (task, user, forMs, isFree) =>
      database.transaction(async (session) => {
        // Nobody else takes a place of the task meanwhile.
        await session.query(`SELECT task FROM tasks WHERE task = ?${forUpdate}`, task);
        const now = await session.now();
        const lapsed = await counted(session, 'ends_at <= ?', task, now);
        await session.query('DELETE FROM places WHERE task = ? AND ends_at <= ?', task, now);
        const [mine] = await session.query('SELECT ends_at FROM places WHERE task = ? AND usr = ?', task, user);
        const underWay = await counted(session, 'ends_at > ?', task, now);
        if (mine !== undefined)
          return { kind: 'given', leftMs: column.number(mine, 'ends_at') - now, underWay, lapsed };
        if (!isFree(underWay)) return { kind: 'none', lapsed };
        await session.query(TAKE, task, user, now + forMs);
        return { kind: 'given', leftMs: forMs, underWay: underWay + 1, lapsed };
      }),
    hasPlace: async (task, user) => {
      const found = 'SELECT usr FROM places WHERE task = ? AND usr = ? AND ends_at > ?';
      return (await database.query(found, task, user, await database.now())).length > 0;
    },
    endPlace: (task, user) =>
      database.transaction(async ({ query }) => {
        const held = await query('SELECT usr FROM places WHERE task = ? AND usr = ?', task, user);
        await query('DELETE FROM places WHERE task = ? AND usr = ?', task, user);
        return held.length > 0;
      }),
    countPlaces: async (task) => counted(database, 'ends_at > ?', task, await database.now()),
  };
}

async function counted(
  { query }: Pick<SqlDatabase, 'query'>,
  which: string,
  task: Uint8Array,
  now: number,
): Promise<number> {
  const [row] = await query(`SELECT COUNT(*) AS places FROM places WHERE task = ? AND ${which}`, task, now);
  return row === undefined ? 0 : column.number(row, 'places');
}
