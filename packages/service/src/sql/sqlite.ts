/** SQLite behind the SQL port: one connection, one transaction at a time. */

import { createQueue } from '../process/queue.ts';
import type { Database, OpenDatabase } from './database.ts';
import { type Dialect, isWrite, type Row, type SqlDatabase, type SqlSession, type SqlWatch } from './sql.ts';
import { WalFlush } from './wal-flush.ts';

export const SQLITE: Dialect = {
  name: 'sqlite',
  blob: 'BLOB',
  integer: 'INTEGER',
  real: 'REAL',
  forUpdate: '',
  lockName: '',
  unlogged: '',
};

type Statement = ReturnType<Database['prepare']>;

export interface SqliteDatabase extends SqlDatabase {
  /** Empties the write-ahead log, which still holds overwritten and deleted data. */
  checkpoint(): Promise<void>;
}

/**
 * `opened` is closed together with the result. A read-only database begins with `BEGIN`. A transaction is over when its
 * writes, and the writes of others that it read, are durable; the next one begins before that.
 */
export function sqliteDatabase(
  opened: OpenDatabase,
  clock: () => number,
  { onCommit }: SqlWatch = {},
  begin: 'BEGIN' | 'BEGIN IMMEDIATE' = 'BEGIN IMMEDIATE',
): SqliteDatabase {
  const { db: database } = opened;
  const statements = new Map<string, Statement>();
  const prepared = (text: string): Statement => {
    const statement = statements.get(text) ?? database.prepare(text);
    statements.set(text, statement);
    return statement;
  };
  let hasWritten = false;
  const session: SqlSession = {
    query: async (text, ...values) => {
      if (!isWrite(text)) return prepared(text).all(...values) as readonly Row[];
      // Not `all`: its errors do not say that the disk is full.
      prepared(text).run(...values);
      hasWritten = true;
      return [];
    },
    now: async () => clock(),
  };
  const queue = createQueue();
  const wal = new WalFlush(opened.file);
  if (begin === 'BEGIN IMMEDIATE') database.exec('PRAGMA synchronous = NORMAL');
  const transaction: SqlDatabase['transaction'] = async (work, { mayBeLost = false } = {}) => {
    let commitBegan: number | undefined;
    const worked = queue(async () => {
      wal.check();
      database.exec(begin);
      hasWritten = false;
      try {
        const value = await work(session);
        if (hasWritten) commitBegan = performance.now();
        database.exec('COMMIT');
        if (hasWritten) wal.wrote();
        return value;
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    });
    await worked.catch(() => undefined);
    if (!mayBeLost) await wal.durable(wal.newest);
    const value = await worked;
    if (commitBegan !== undefined) onCommit?.((performance.now() - commitBegan) / 1000);
    return value;
  };
  return {
    dialect: SQLITE,
    transaction,
    query: (text, ...values) => transaction(({ query }) => query(text, ...values)),
    peek: (text, ...values) => transaction(({ query }) => query(text, ...values), { mayBeLost: true }),
    now: async () => clock(),
    checkpoint: () => queue(async () => database.exec('PRAGMA wal_checkpoint(TRUNCATE)')),
    close: () =>
      queue(async () => {
        try {
          await wal.durable(wal.newest);
        } finally {
          opened.close();
          await wal.close();
        }
      }),
  };
}
