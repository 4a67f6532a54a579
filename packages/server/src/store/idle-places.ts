/** Places that devices left unused: too many of them in a while, and a device has to wait. */
import type { UserId } from '@basa/protocol';
import { column, type SqlDatabase } from '@basa/service';

const IDLE = 'SELECT COUNT(*) AS idle FROM idle_places WHERE usr = ? AND at >= ?';

export function idlePlaceTables(database: SqlDatabase) {
  return {
    /** The number of places, in all tasks, that the device left unused since this time. */
    idleSince: async (user: UserId, since: number): Promise<number> => {
      const [row] = await database.query(IDLE, user, since);
      return row === undefined ? 0 : column.number(row, 'idle');
    },
    /** Those from before this time no longer count. */
    async forgetIdle(before: number): Promise<void> {
      await database.query('DELETE FROM idle_places WHERE at < ?', before);
    },
  };
}
