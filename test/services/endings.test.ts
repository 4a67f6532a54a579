/** The ends of batches when not everybody stays, or not everybody is honest. One-hot updates make each sum its own witness. */
import type { BasaClient, Contribution } from '@basa/client/node';
import { holdUpload, otherBody, send } from '@basa/testkit/services/held-upload.ts';
import { countsOf, oneHot, TestServices } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const HOUR_MS = 3_600_000;
let services: TestServices;
beforeAll(async () => {
  services = await TestServices.open();
});
afterAll(() => services.close());

async function contribute(name: string, place: number): Promise<{ client: BasaClient; contribution: Contribution }> {
  const client = await services.client(name);
  const contribution = await client.contribute(oneHot(place, services.policy.dimension), { trainedOn: 0 });
  if (contribution.kind !== 'accepted') throw new Error(`${name}: ${contribution.reason}`);
  return { client, contribution };
}

it('a batch with enough updates is made when no update has come for a while', async () => {
  await services.createTask({ bufferSize: 4 }, { stallMs: 60_000 });
  const { contribution } = await contribute('a', 0);
  await contribute('b', 1);
  services.elapse(59_000);
  expect((await services.fate(contribution.ctx)).fate).toBe('waiting');
  services.elapse(1001);
  expect(countsOf(await services.reached(1), 2)).toEqual([1, 1, 0, 0, 0, 0, 0, 0]);
});

it('too few updates end with their epoch, and their devices give no other update on that version', async () => {
  await services.createTask({ bufferSize: 4 });
  const { client, contribution } = await contribute('a', 0);
  expect(await client.fate(contribution)).toBe('waiting');
  services.elapse(3 * HOUR_MS);
  expect(await services.fateIs(contribution.ctx, 'refused')).toMatchObject({ reason: 'epoch-over' });
  expect(await client.fate(contribution)).toBe('refused');
  expect(await client.contribute(oneHot(0), { trainedOn: 0 })).toMatchObject({ reason: 'version-given' });
});

it.each([
  ['wrong guard words', (_: number) => 5],
  ['a part that does not open', (length: number) => length - 1],
])('an upload with %s is refused by itself, and the others make their sum', async (_, place) => {
  await services.createTask();
  const cheat = await holdUpload(services, 1);
  const body = cheat.body.map((byte, n) => (n === place(cheat.body.length) ? byte ^ 1 : byte));
  const wrong = otherBody(services, cheat, body);
  expect((await send(services, cheat, wrong)).answer).toMatchObject({ accepted: true });
  const { client, contribution } = await contribute('honest', 0);
  await contribute('another', 2);
  await contribute('a third', 3);
  expect(countsOf(await services.reached(1), 3)).toEqual([1, 0, 1, 1, 0, 0, 0, 0]);
  expect(await services.fateIs(wrong.target.split('/').at(-1) ?? '', 'refused')).toHaveProperty('reason');
  expect(await client.fate(contribution)).toBe('included');
});
