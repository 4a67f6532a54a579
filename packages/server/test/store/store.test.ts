/** A store over SQLite keeps the guarantees of every store, and reports a full disk and an older layout. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isStorageFull, openDatabase, SQLITE, sqliteDatabase } from '@basa/service';
import { afterAll, expect, it } from 'vitest';
import { Tickets } from '../../src/admission/tickets.ts';
import { EMBEDDED_DATABASE, migrationsFor } from '../../src/store/schema.ts';
import { createStore } from '../../src/store/store.ts';
import { testNodes } from '../support/nodes-conformance.ts';
import { testShots } from '../support/shots-conformance.ts';
import { testStore } from '../support/store-conformance.ts';
import { testSuspicions } from '../support/suspicion-conformance.ts';

const folders: string[] = [];
const sqlite = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'basa-store-'));
  folders.push(folder);
  const options = { application: 'server', migrations: migrationsFor(SQLITE) } as const;
  const database = () => sqliteDatabase(openDatabase(folder, options), Date.now);
  const first = database();
  let current = createStore(first);
  return {
    store: current,
    tickets: new Tickets(first),
    async reopen() {
      await current.close();
      current = createStore(database());
      return current;
    },
  };
};

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

testStore('SQLite', sqlite);
testNodes('SQLite', sqlite);
testShots('SQLite', sqlite);
testSuspicions('SQLite', sqlite);

it('a database without space reports it, and keeps its data', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'basa-store-'));
  folders.push(folder);
  const opened = openDatabase(folder, { application: 'server', migrations: migrationsFor(SQLITE) });
  const store = createStore(sqliteDatabase(opened, Date.now));
  await store.setNote('small', Uint8Array.of(1));
  const { page_count: pages } = opened.db.prepare('PRAGMA page_count').get() as { page_count: number };
  opened.db.exec(`PRAGMA max_page_count = ${pages}`);
  const failure: unknown = await store.setNote('large', new Uint8Array(100_000)).catch((error: unknown) => error);
  expect(isStorageFull(failure)).toBe(true);
  expect(await store.note('small')).toEqual(Uint8Array.of(1));
  expect(await store.note('large')).toBeUndefined();
  await store.setNote('small', Uint8Array.of(2)); // a write that needs no space still succeeds
  await store.close();
});

it('a database with an older layout is refused with advice, and is not changed', async () => {
  const older = { application: 'server', migrations: migrationsFor(SQLITE).slice(0, 11) } as const;
  const folder = mkdtempSync(join(tmpdir(), 'basa-store-'));
  folders.push(folder);
  openDatabase(folder, older).close();
  const refused =
    'has format 11, but this version reads only formats from 13. Nothing was changed; start the version that wrote it';
  expect(() => openDatabase(folder, EMBEDDED_DATABASE)).toThrow(refused);
  openDatabase(folder, older).close();
});
