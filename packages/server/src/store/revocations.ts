/** The devices that the authorities have revoked. */
import { equalBytes } from '@basa/masking';
import type { Council, TaskId, UserId } from '@basa/protocol';
import { column, type SqlDatabase } from '@basa/service';
import { insertRows } from './insert-rows.ts';

/** The life of an authority's log and the number up to which its revocations are known. */
export interface RevocationMark {
  readonly branch: Uint8Array;
  readonly upTo: number;
}

const SET_MARK = `INSERT INTO revocation_marks (task, authority, branch, up_to) VALUES (?, ?, ?, ?)
  ON CONFLICT (task, authority) DO UPDATE SET branch = excluded.branch, up_to = excluded.up_to`;

export function revocationTables(database: SqlDatabase) {
  return {
    async revocationMark(task: TaskId, authority: Uint8Array): Promise<RevocationMark | undefined> {
      const [row] = await database.query(
        'SELECT branch, up_to FROM revocation_marks WHERE task = ? AND authority = ?',
        task,
        authority,
      );
      return row === undefined ? undefined : { branch: column.bytes(row, 'branch'), upTo: column.number(row, 'up_to') };
    },
    /** These devices stay revoked by the authority, like the devices that it reported before. */
    addRevocations: (
      task: TaskId,
      authority: Uint8Array,
      users: readonly UserId[],
      { branch, upTo }: RevocationMark,
    ): Promise<void> =>
      database.transaction(async (session) => {
        const rows = users.map((user) => [task, user, authority]);
        await insertRows(session, 'revoked_devices (task, usr, authority)', rows, ' ON CONFLICT DO NOTHING');
        await session.query(SET_MARK, task, authority, branch, upTo);
      }),
    /** The number of these authorities that have revoked it. */
    async revokedBy(task: TaskId, user: UserId, { authorities }: Pick<Council, 'authorities'>): Promise<number> {
      const rows = await database.peek('SELECT authority FROM revoked_devices WHERE task = ? AND usr = ?', task, user);
      const revoking = rows.map((row) => column.bytes(row, 'authority'));
      return authorities.filter((key) => revoking.some((one) => equalBytes(one, key))).length;
    },
  };
}
