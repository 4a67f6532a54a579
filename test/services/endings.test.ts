/** The ends of batches when not everybody stays, or not everybody is honest. One-hot updates make each sum its own witness. */
import type { BasaClient, Contribution } from '@basa/client/node';
import { holdUpload, otherBody, send } from '@basa/testkit/services/held-upload.ts';
import { countsOf, oneHot, TestServices } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

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
