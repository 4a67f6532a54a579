/** The tables of a server for tests with a clock of their own and many transactions, none of which has to survive anything. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskId } from '@basa/protocol';
import type { TaskPolicy } from '@basa/protocol/policy';
import { openDatabase, type Row, SQLITE, type SqlDatabase, type SqlSession } from '@basa/service';
import { onTestFinished } from 'vitest';
import { Places } from '../../src/admission/places.ts';
import { EMBEDDED_DATABASE } from '../../src/store/schema.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { policy } from './store-samples.ts';

/** One transaction that never ends: nothing of it reaches the disk. It is closed after the test. */
function volatileDatabase(clock: () => number): SqlDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'basa-volatile-'));
  const { db, close } = openDatabase(folder, EMBEDDED_DATABASE);
  db.exec('BEGIN');
  onTestFinished(() => {
    db.exec('ROLLBACK');
    close();
    rmSync(folder, { recursive: true });
  });
  const statements = new Map<string, ReturnType<typeof db.prepare>>();
  const session: SqlSession = {
    async query(text, ...values) {
      const statement = statements.get(text) ?? db.prepare(text);
      statements.set(text, statement);
      if (/^SELECT/.test(text)) return statement.all(...values) as readonly Row[];
      statement.run(...values);
      return [];
    },
    now: async () => clock(),
  };
  let last: Promise<unknown> = Promise.resolve();
  const transaction = <Result>(work: (session: SqlSession) => Promise<Result>): Promise<Result> => {
    const worked = last.then(() => work(session));
    last = worked.catch(() => undefined);
    return worked;
  };
  const query: SqlDatabase['query'] = (text, ...values) => transaction((one) => one.query(text, ...values));
  return {
    dialect: SQLITE,
    transaction,
    query,
    peek: query,
    now: session.now,
    close: async () => {}, // after the test
  };
}

/** With a task that runs. */
export async function volatileStore(
  task: TaskId,
  clock: () => number,
  ofTask: Partial<TaskPolicy> = {},
): Promise<{ readonly store: Store; readonly placeTable: Places }> {
  const database = volatileDatabase(clock);
  const store = createStore(database);
  await store.addTask({ task, policy: { ...policy, ...ofTask }, specification: '{}', state: 'running', createdAt: 0 });
  return { store, placeTable: new Places(database) };
}
