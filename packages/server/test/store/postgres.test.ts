/** A store over PostgreSQL keeps the guarantees of every store, and creates its tables at the first start. */
import { column, openPostgres, openSignals } from '@basa/service';
import { type TestPostgres, testPostgres } from '@basa/testkit/processes/test-postgres.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Places } from '../../src/admission/places.ts';
import { SERVER_DATABASE } from '../../src/store/schema.ts';
import { createStore } from '../../src/store/store.ts';
import { testNodes } from '../support/nodes-conformance.ts';
import { testShots } from '../support/shots-conformance.ts';
import { testStore } from '../support/store-conformance.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await testPostgres();
  await postgres.database('store');
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
    placeTable: new Places(first),
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

it('several nodes create the tables together, and a version before 1.0 is refused', async () => {
  const url = await postgres.database('older');
  const nodes = await Promise.all([1, 2, 3].map(() => openPostgres({ url, ...SERVER_DATABASE })));
  const [first] = nodes;
  await first?.query('UPDATE basa_format SET format = 14');
  for (const node of nodes) await node.close();
  await expect(openPostgres({ url, ...SERVER_DATABASE })).rejects.toThrow('the database has format 14: it was written');
});

it('a node that is stopped while it connects for signals does not wait for their end', async () => {
  const troubles: unknown[] = [];
  const onTrouble = (error: unknown): void => void troubles.push(error);
  const listener = { onWord: () => undefined, onGap: () => undefined, onTrouble };
  await openSignals({ url: postgres.url('store'), channel: 'stopped', ...listener }).close();
  expect(troubles).toEqual([]);
});
