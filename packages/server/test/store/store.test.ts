/** A store over SQLite keeps the guarantees of every store, and reports a full disk. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isStorageFull, openDatabase, sqliteDatabase } from '@basa/service';
import { afterAll, expect, it } from 'vitest';
import { Places } from '../../src/admission/places.ts';
import { EMBEDDED_DATABASE } from '../../src/store/schema.ts';
import { createStore } from '../../src/store/store.ts';
import { testNodes } from '../support/nodes-conformance.ts';
import { testShots } from '../support/shots-conformance.ts';
import { testStore } from '../support/store-conformance.ts';

const folders: string[] = [];
const sqlite = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'basa-store-'));
  folders.push(folder);
  const database = () => sqliteDatabase(openDatabase(folder, EMBEDDED_DATABASE), Date.now);
  const first = database();
  let current = createStore(first);
  return {
    store: current,
    placeTable: new Places(first),
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

it('a database without space reports it, and keeps its data', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'basa-store-'));
  folders.push(folder);
  const opened = openDatabase(folder, EMBEDDED_DATABASE);
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
