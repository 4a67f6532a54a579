/** Epochs of authorities that devices were told of, so that an upload that names one is understood after a restart as well. */
import { type Epoch, epochCodec, type TaskId } from '@basa/protocol';
import { column, type SqlDatabase } from '@basa/service';

export function epochTables(database: SqlDatabase) {
  const add = `INSERT INTO epochs (statement, task, epoch, until) VALUES (?, ?, ?, ?) ON CONFLICT (statement) DO NOTHING`;
  return {
    /** `until`: the time from which no useful upload can name it. */
    async addEpoch(statement: Uint8Array, epoch: Epoch, until: number): Promise<void> {
      await database.query(add, statement, epoch.task, epochCodec.encode(epoch), until);
    },
    epochs: async (task: TaskId): Promise<readonly Epoch[]> =>
      (await database.query('SELECT epoch FROM epochs WHERE task = ?', task)).map((row) =>
        epochCodec.decode(column.bytes(row, 'epoch')),
      ),
    async forgetEpochs(task: TaskId, before: number): Promise<void> {
      await database.query('DELETE FROM epochs WHERE task = ? AND until < ?', task, before);
    },
  };
}
