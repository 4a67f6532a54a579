/** Places of devices that are under way, shared by the nodes of one database. */
import type { SqlDatabase } from '@basa/service';
import { column } from '@basa/service';
import type { NodeStore } from './store.ts';

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
        const over = await session.query('DELETE FROM places WHERE task = ? AND ends_at <= ? RETURNING usr', task, now);
        const lapsed = over.length;
        const [mine] = await session.query('SELECT ends_at FROM places WHERE task = ? AND usr = ?', task, user);
        const underWay = await counted(session, task);
        if (mine !== undefined)
          return { kind: 'given', leftMs: column.number(mine, 'ends_at') - now, underWay, lapsed };
        if (!isFree(underWay)) return { kind: 'none', lapsed };
        await session.query(TAKE, task, user, now + forMs);
        return { kind: 'given', leftMs: forMs, underWay: underWay + 1, lapsed };
      }),
    async hasPlace(task, user) {
      const found = 'SELECT usr FROM places WHERE task = ? AND usr = ? AND ends_at > ?';
      return (await database.query(found, task, user, await database.now())).length > 0;
    },
    async endPlace(task, user) {
      return (
        (await database.query('DELETE FROM places WHERE task = ? AND usr = ? RETURNING usr', task, user)).length > 0
      );
    },
    async countPlaces(task) {
      const living = 'SELECT COUNT(*) AS places FROM places WHERE task = ? AND ends_at > ?';
      const [row] = await database.query(living, task, await database.now());
      return row === undefined ? 0 : column.number(row, 'places');
    },
  };
}

async function counted({ query }: Pick<SqlDatabase, 'query'>, task: Uint8Array): Promise<number> {
  const [row] = await query('SELECT COUNT(*) AS places FROM places WHERE task = ?', task);
  return row === undefined ? 0 : column.number(row, 'places');
}
