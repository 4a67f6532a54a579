import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '@basa/service';
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
