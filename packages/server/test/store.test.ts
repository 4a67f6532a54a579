import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isStorageFull, openDatabase } from '@basa/service';
import { expect, it } from 'vitest';
import { migrationsFor } from '../src/store/schema.ts';
import { createSqlStore } from '../src/store/sql-store.ts';
import { SQLITE, sqliteDatabase } from '../src/store/sqlite.ts';
import type { Store } from '../src/store/store.ts';
import { testStore } from './support/store-conformance.ts';

testStore('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'basa-store-'));
  const open = (): Store =>
    createSqlStore(sqliteDatabase(openDatabase(folder, { application: 'server', migrations: migrationsFor(SQLITE) })));
  let current = open();
  return {
    store: current,
    async reopen() {
      await current.close();
      current = open();
      return current;
    },
  };
});

it('a database without space says so, and keeps what it has', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'basa-store-'));
  const opened = openDatabase(folder, { application: 'server', migrations: migrationsFor(SQLITE) });
  const store = createSqlStore(sqliteDatabase(opened));
  await store.setNote('small', Uint8Array.of(1));
  const { page_count: pages } = opened.db.prepare('PRAGMA page_count').get() as { page_count: number };
  opened.db.exec(`PRAGMA max_page_count = ${pages}`);
  const failure: unknown = await store.setNote('large', new Uint8Array(100_000)).catch((error: unknown) => error);
  expect(failure).toSatisfy(isStorageFull);
  expect(await store.note('small')).toEqual(Uint8Array.of(1));
  expect(await store.note('large')).toBeUndefined();
  await store.setNote('small', Uint8Array.of(2)); // what needs no space is still taken
  await store.close();
});
