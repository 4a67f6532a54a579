/** What an honest device says too late: well-formed, signed, of somebody enrolled, for a buffer that is over. */
import { join } from 'node:path';
import { inMemoryStoreForTests } from '@basa/client/node';
import type { Asked } from '@basa/conformance/service-proxy.ts';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { problemCodeOf } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import { askSigned, honestFleet, honestFleetGoesOn } from '@basa/testkit/services/fleet.ts';
import { AT_ONCE } from '@basa/testkit/services/held-upload.ts';
import { House, oneHot, until } from '@basa/testkit/services/house.ts';
import { filesBelow, snapshot } from '@basa/testkit/services/snapshot.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const SEAT_MS = 1000;

let house: House;
beforeAll(async () => {
  house = await House.open({ server: { seatMs: SEAT_MS } });
});
afterAll(() => house.close());

it('a deposit for a buffer that has ended is refused and changes nothing, and its device goes on elsewhere', async () => {
  const proxy = await house.proxy();
  const signer = createNodeSigner(nodeRandomBytes(32));
  const identity = inMemoryStoreForTests(signer);
  const late = await house.client('late', { identity, server: proxy.url, retry: AT_ONCE });
  const held: Asked[] = [];
  proxy.onAsk = (asked) => {
    if (!asked.path.endsWith('/deposits')) return undefined;
    held.push(asked);
    return 'cut';
  };
  await expect(late.contribute(oneHot(0), { trainedOn: 0 })).rejects.toThrow();
  const { path, body } = held[0] as Asked;
  house.elapse(SEAT_MS + 1);
  const fleet = await honestFleet(house);
  await honestFleetGoesOn(house, fleet);
  const [, , , ctx = ''] = path.split('/');
  expect(await house.bufferState(ctx)).toMatchObject({ status: 'included' });
  // Its uploads go when the sum is in the model, a moment after it says so.
  await until(() => filesBelow(join(house.folder, 'server', 'blobs', 'uploads', ctx)).length === 0);

  const before = await snapshot(house, ctx);
  const response = await askSigned(house, signingDevice(signer), 'server', path, body);
  expect(response.status).toBe(410);
  expect(problemCodeOf(await response.json())).toBe('buffer-not-open');
  expect(await snapshot(house, ctx)).toEqual(before);

  proxy.behave();
  await late.discard();
  await honestFleetGoesOn(house, [late, ...fleet.slice(1)], 4);
});
