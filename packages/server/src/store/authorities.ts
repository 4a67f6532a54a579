/** What authorities told the server: their epochs, and the devices that they have revoked. */

import { equalBytes, toHex } from '@basa/masking';
import type { TaskId, UserId } from '@basa/protocol';
import { Devices, Epoch } from '@basa/protocol/wire';
import { column, type SqlDatabase } from '@basa/service';
import { insertRows } from './sql.ts';

/** Epochs of authorities that devices were told of, so that an upload that names one is understood after a restart as well. */
export function epochTables(database: SqlDatabase) {
  const add = `INSERT INTO epochs (statement, task, epoch, until) VALUES (?, ?, ?, ?) ON CONFLICT (statement) DO NOTHING`;
  return {
    /** `until`: the time from which no useful upload can name it. */
    async addEpoch(statement: Uint8Array, epoch: Epoch, until: number): Promise<void> {
      await database.query(add, statement, epoch.task, Epoch.encode(epoch), until);
    },
    epochs: async (task: TaskId): Promise<readonly Epoch[]> =>
      (await database.query('SELECT epoch FROM epochs WHERE task = ?', task)).map((row) =>
        Epoch.decode(column.bytes(row, 'epoch')),
      ),
    async forgetEpochs(task: TaskId, before: number): Promise<void> {
      await database.query('DELETE FROM epochs WHERE task = ? AND until < ?', task, before);
    },
  };
}

/** The devices that the authorities have revoked. */
export function revocationTables(database: SqlDatabase) {
  const revocationsOf = async (authority: Uint8Array): Promise<readonly UserId[]> => {
    const rows = await database.query('SELECT usr FROM revoked_devices WHERE authority = ?', authority);
    return rows.map((row) => column.bytes(row, 'usr') as UserId);
  };
  return {
    revocationsOf,
    /** These devices stay revoked by the authority. There is a limit, so that one that invents devices cannot fill the disk. */
    async addRevocations(authority: Uint8Array, users: readonly UserId[]): Promise<void> {
      const known = new Set((await revocationsOf(authority)).map(toHex));
      const fresh = users.filter((user) => !known.has(toHex(user))).slice(0, Devices.MAX_REVOCATIONS - known.size);
      if (fresh.length === 0) return;
      const rows = fresh.map((user) => [authority, user]);
      await database.transaction((session) =>
        insertRows(session, 'revoked_devices (authority, usr)', rows, ' ON CONFLICT DO NOTHING'),
      );
    },
    /** The number of these authorities that have revoked it. */
    async revokedBy(user: UserId, authorities: readonly Uint8Array[]): Promise<number> {
      const rows = await database.peek('SELECT authority FROM revoked_devices WHERE usr = ?', user);
      const revoking = rows.map((row) => column.bytes(row, 'authority'));
      return authorities.filter((key) => revoking.some((one) => equalBytes(one, key))).length;
    },
  };
}
