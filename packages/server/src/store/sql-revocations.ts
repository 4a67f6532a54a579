/** Devices that authorities revoked, over SQL. */
import { column, type SqlDatabase } from '@basa/service';
import { insertRows } from './insert-rows.ts';
import type { RevocationStore } from './revocation-store.ts';

const SET_MARK = `INSERT INTO revocation_marks (task, authority, branch, up_to) VALUES (?, ?, ?, ?)
  ON CONFLICT (task, authority) DO UPDATE SET branch = excluded.branch, up_to = excluded.up_to`;

export function sqlRevocations(database: SqlDatabase): RevocationStore {
  return {
    async revocationMark(task, authority) {
      const [row] = await database.query(
        'SELECT branch, up_to FROM revocation_marks WHERE task = ? AND authority = ?',
        task,
        authority,
      );
      return row === undefined ? undefined : { branch: column.bytes(row, 'branch'), upTo: column.number(row, 'up_to') };
    },
    addRevocations: (task, authority, users, { branch, upTo }) =>
      database.transaction(async (session) => {
        const rows = users.map((user) => [task, user, authority]);
        await insertRows(session, 'revoked_devices (task, usr, authority)', rows, ' ON CONFLICT DO NOTHING');
        await session.query(SET_MARK, task, authority, branch, upTo);
      }),
    revokedBy: async (task, user) =>
      (await database.query('SELECT authority FROM revoked_devices WHERE task = ? AND usr = ?', task, user)).length,
  };
}
