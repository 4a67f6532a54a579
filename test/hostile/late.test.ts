/** Late messages of an honest device: well-formed, signed and enrolled, but for a buffer that is over. */
import { join } from 'node:path';
import { inMemoryStoreForTests } from '@basa/client/node';
import type { Asked } from '@basa/conformance/service-proxy.ts';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { problemCodeOf } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import { askSigned, honestFleet, honestFleetGoesOn } from '@basa/testkit/services/fleet.ts';
import { AT_ONCE } from '@basa/testkit/services/held-upload.ts';
import { filesBelow, snapshot } from '@basa/testkit/services/snapshot.ts';
import { oneHot, TestServices, until } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const SEAT_MS = 1000;

let services: TestServices;
beforeAll(async () => {
  services = await TestServices.open({ server: { seatMs: SEAT_MS } });
});
afterAll(() => services.close());

it('a deposit for a buffer that has ended is refused and changes nothing, and its device goes on elsewhere', async () => {
  const proxy = await services.proxy();
  const signer = createNodeSigner(nodeRandomBytes(32));
  const identity = inMemoryStoreForTests(signer);
  const late = await services.client('late', { identity, server: proxy.url, retry: AT_ONCE });
  const held: Asked[] = [];
  proxy.onAsk = (asked) => {
    if (!asked.path.endsWith('/deposits')) return undefined;
    held.push(asked);
    return 'cut';
  };
  await expect(late.contribute(oneHot(0), { trainedOn: 0 })).rejects.toThrow();
  const { path, body } = held[0] as Asked;
  services.elapse(SEAT_MS + 1);
  const fleet = await honestFleet(services);
  await honestFleetGoesOn(services, fleet);
  const [, , , ctx = ''] = path.split('/');
  expect(await services.bufferState(ctx)).toMatchObject({ status: 'included' });
  // Its uploads go when the sum is in the model, a moment after it says so.
  await until(() => filesBelow(join(services.folder, 'server', 'blobs', 'uploads', ctx)).length === 0);

  const before = await snapshot(services, ctx);
  const response = await askSigned(services, signingDevice(signer), 'server', path, body);
  expect(response.status).toBe(410);
  expect(problemCodeOf(await response.json())).toBe('buffer-not-open');
  expect(await snapshot(services, ctx)).toEqual(before);

  proxy.behave();
  await late.discard();
  await honestFleetGoesOn(services, [late, ...fleet.slice(1)], 4);
});
