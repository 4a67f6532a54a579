/** Late messages of an honest device: well-formed, signed and enrolled, but for a version that is over. */

import { honestFleet, honestFleetGoesOn } from '@basa/testkit/services/fleet.ts';
import { holdUpload, send } from '@basa/testkit/services/held-upload.ts';
import { snapshot } from '@basa/testkit/services/snapshot.ts';
import { TestServices } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

let services: TestServices;
beforeAll(async () => {
  services = await TestServices.open({ policy: { maxStaleness: 0 } });
});
afterAll(() => services.close());

it('an upload on a version that is over is refused and changes nothing, and its device goes on with the newest', async () => {
  const late = await holdUpload(services, 0);
  const fleet = await honestFleet(services);
  await honestFleetGoesOn(services, fleet);
  const before = snapshot(services);
  expect(await send(services, late)).toMatchObject({ status: 410, code: 'version-over' });
  expect(snapshot(services)).toEqual(before);
  await late.client.discard();
  await honestFleetGoesOn(services, [late.client, ...fleet.slice(1)], 4);
});
