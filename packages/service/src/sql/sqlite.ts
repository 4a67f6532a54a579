/** SQLite as the SQL port: one connection, one transaction after the other, and one commit for transactions that come together. */

import { createQueue } from '../process/lifecycle.ts';
import type { Database, OpenDatabase } from './database.ts';
import { SharedCommit, WalFlush } from './shared-commit.ts';
import { type Dialect, isWrite, type Row, type SqlDatabase, type SqlSession, type SqlWatch } from './sql.ts';

export const SQLITE: Dialect = {
  name: 'sqlite',
  blob: 'BLOB',
  integer: 'INTEGER',
  real: 'REAL',
  forUpdate: '',
  unlogged: '',
};

type Statement = ReturnType<Database['prepare']>;

export interface SqliteDatabase extends SqlDatabase {
  /** Empties the write-ahead log, which still holds overwritten and deleted data. */
  checkpoint(): Promise<void>;
}

/**
 * Closing the result also closes `opened`. A transaction resolves when its writes, and the writes of others that it read, are durable. The
 * next transaction starts before that. No other process writes, so reads need no locks.
 */
export function sqliteDatabase(opened: OpenDatabase, clock: () => number, { onCommit }: SqlWatch = {}): SqliteDatabase {
  const { db: database } = opened;
  // A checkpoint waits for the disk on the main thread, and writes pages once however often they changed: at 16 MB instead of 4.
  database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000');
  const wal = new WalFlush(opened.file);
  const queue = createQueue();
  const shared = new SharedCommit(database, wal, queue);
  const session = sessionOf(database, clock, () => shared.beforeWrite());
  const transaction: SqlDatabase['transaction'] = async (work, { mayBeLost = false } = {}) => {
    const worked = queue(async () => {
      let value: Awaited<ReturnType<typeof work>> | undefined;
      const hasWritten = await shared.work(async () => {
        value = await work(session);
      });
      return {
        value: value as Awaited<ReturnType<typeof work>>,
        hasWritten,
        committed: shared.committed,
        at: performance.now(),
      };
    });
    const ended = await worked.catch(async (error: unknown) => {
      // The cause of the refusal may be something that another transaction has just written.
      if (!mayBeLost) await shared.committed.then((commit) => wal.durable(commit)).catch(() => undefined);
      throw error;
    });
    const { value, hasWritten, committed, at } = ended;
    if (hasWritten || !mayBeLost) {
      const commit = await committed;
      if (!mayBeLost) await wal.durable(commit);
    }
    if (hasWritten) onCommit?.((performance.now() - at) / 1000);
    return value;
  };
  return {
    dialect: SQLITE,
    transaction,
    query: (text, ...values) => transaction(({ query }) => query(text, ...values)),
    peek: (text, ...values) => transaction(({ query }) => query(text, ...values), { mayBeLost: true }),
    now: async () => clock(),
    checkpoint: () =>
      queue(async () => {
        shared.commit();
        database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      }),
    close: () =>
      queue(async () => {
        try {
          shared.commit();
          await wal.durable(wal.newest);
        } finally {
          opened.close();
          await wal.close();
        }
      }),
  };
}

/** Read-only access while another process may write. Closing the result also closes `opened`. */
export function readOnlySqlite(opened: OpenDatabase): SqlDatabase {
  const { db: database } = opened;
  const session = sessionOf(database, Date.now, () => undefined);
  const queue = createQueue();
  const query: SqlDatabase['query'] = (text, ...values) => queue(() => session.query(text, ...values));
  return {
    dialect: SQLITE,
    transaction: (work) =>
      queue(async () => {
        database.exec('BEGIN');
        try {
          return await work(session);
        } finally {
          database.exec('COMMIT');
        }
      }),
    query,
    peek: query,
    now: session.now,
    close: () => queue(async () => opened.close()),
  };
}

function sessionOf(database: Database, clock: () => number, beforeWrite: () => void): SqlSession {
  const statements = new Map<string, { readonly statement: Statement; readonly writes: boolean }>();
  const prepared = (text: string): { readonly statement: Statement; readonly writes: boolean } => {
    const known = statements.get(text) ?? { statement: database.prepare(text), writes: isWrite(text) };
    statements.set(text, known);
    return known;
  };
  return {
    query: async (text, ...values) => {
      const { statement, writes } = prepared(text);
      if (!writes) return statement.all(...values) as readonly Row[];
      beforeWrite();
      // `all` is not used, because its errors do not report a full disk.
      statement.run(...values);
      return [];
    },
    now: async () => clock(),
  };
}
