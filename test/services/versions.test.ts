/** One version of the model per batch, over HTTP: the end of a version, and what becomes of its updates. */
import type { BasaClient } from '@basa/client/node';
import { oneHot, TestServices } from '@basa/testkit/services/test-services.ts';
import { afterEach, expect, it } from 'vitest';

let services: TestServices;
afterEach(() => services?.close());

const PLACES = { specification: { places: 10 } };

async function placed(count: number): Promise<BasaClient[]> {
  const clients = await Promise.all(Array.from({ length: count }, (_, n) => services.client(`device ${n}`)));
  for (const client of clients) expect(await client.admission()).toMatchObject({ kind: 'place' });
  return clients;
}

const give = (client: BasaClient | undefined, n: number, trainedOn: number) =>
  (client as BasaClient).contribute(oneHot(n), { trainedOn });
const accepted = (result: Awaited<ReturnType<typeof give>>): string => {
  if (result.kind !== 'accepted') throw new Error(result.reason);
  return result.ctx;
};

it('updates of two versions are never in one batch, and an older version is summed once no device is on its way', async () => {
  services = await TestServices.open({ policy: { bufferSize: 3, minimum: 2 }, ...PLACES });
  const clients = await placed(5);
  for (const client of clients) await client.model(); // version 0
  for (const n of [0, 1, 2]) accepted(await give(clients[n], n, 0));
  await services.reached(1);
  const late = accepted(await give(clients[3], 3, 0));
  const fresh = await services.client('fresh');
  await fresh.admission();
  await fresh.model();
  // Two more are on the way to version 1: its updates wait for them.
  for (const name of ['on the way', 'also on the way']) {
    const other = await services.client(name);
    await other.admission();
    await other.model();
  }
  const newer = accepted(await give(fresh, 5, 1));
  const last = accepted(await give(clients[4], 4, 0));
  // Nobody else trains on version 0.
  const { ctx } = await services.fateIs(late, 'included');
  expect(await services.fateIs(last, 'included')).toMatchObject({ ctx });
  expect((await services.fate(newer)).fate).toBe('waiting');
});

it('an update is refused when too few devices are left for its version, and its device contributes on the newest one', async () => {
  services = await TestServices.open({ policy: { bufferSize: 3, minimum: 2 }, ...PLACES });
  const clients = await placed(4);
  for (const client of clients) await client.model();
  for (const n of [0, 1, 2]) accepted(await give(clients[n], n, 0));
  await services.reached(1);
  const refusal = await give(clients[3], 3, 0);
  expect(refusal).toMatchObject({
    reason: 'version-over',
    detail: expect.stringContaining('version 1'),
  });
  await (clients[3] as BasaClient).admission();
  await (clients[3] as BasaClient).model();
  accepted(await give(clients[3], 4, 1));
});
