/** A store over PostgreSQL keeps the guarantees of every store, and refuses an older layout. */
import { column, migratePostgres, openPostgres, POSTGRES } from '@basa/service';
import { type TestPostgres, testPostgres } from '@basa/testkit/processes/test-postgres.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Tickets } from '../../src/admission/tickets.ts';
import { migrationsFor, SERVER_DATABASE } from '../../src/store/schema.ts';
import { createStore } from '../../src/store/store.ts';
import { testNodes } from '../support/nodes-conformance.ts';
import { testShots } from '../support/shots-conformance.ts';
import { testStore } from '../support/store-conformance.ts';
import { testSuspicions } from '../support/suspicion-conformance.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await testPostgres();
  await migratePostgres(await postgres.database('store'), SERVER_DATABASE);
});
afterAll(() => postgres?.remove());

/** One database for all tests, empty at the start of each: to make a new one takes longer than most of them. */
const onPostgres = async () => {
  const options = { url: postgres.url('store'), ...SERVER_DATABASE };
  const first = await openPostgres(options);
  const tables = await first.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  const names = tables.map((row) => column.text(row, 'tablename')).filter((name) => name !== 'basa_format');
  await first.query(`TRUNCATE ${names.join(', ')}`);
  let current = createStore(first);
  return {
    store: current,
    tickets: new Tickets(first),
    async reopen() {
      await current.close();
      current = createStore(await openPostgres(options));
      return current;
    },
  };
};

testStore('PostgreSQL', onPostgres);
testNodes('PostgreSQL', onPostgres);
testShots('PostgreSQL', onPostgres);
testSuspicions('PostgreSQL', onPostgres);

it('a database with an older layout is refused with advice, and is not changed', async () => {
  const url = await postgres.database('older');
  await migratePostgres(url, { application: 'server', migrations: migrationsFor(POSTGRES).slice(0, 11) });
  await expect(migratePostgres(url, SERVER_DATABASE)).rejects.toThrow(
    'has format 11, but this version reads only formats from 13',
  );
  await expect(openPostgres({ url, ...SERVER_DATABASE })).rejects.toThrow(
    'has format 11, but this version reads only formats from 13',
  );
});
