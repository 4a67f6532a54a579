/** The one-shot mode with real devices, a real server and a real authority. */
import { ENGINE, ONE_SHOT_DEFAULTS } from '@basa/protocol';
import { oneHot, TestServices } from '@basa/testkit/services/test-services.ts';
import { afterEach, expect, it } from 'vitest';

let services: TestServices | undefined;
afterEach(() => services?.close());

it('updates of one message each fill a batch, and the model moves by exactly their mean', async () => {
  const opened = await TestServices.open({
    policy: { engine: ENGINE.oneShot, oneShot: ONE_SHOT_DEFAULTS },
    specification: { mode: 'one-shot' },
  });
  services = opened;
  const devices = await Promise.all(['a', 'b', 'c'].map((name) => opened.client(name)));
  const results = await Promise.all(devices.map((device, n) => device.contribute(oneHot(n), { trainedOn: 0 })));
  expect(results.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted']);
  const model = await opened.reached(1);
  expect(Array.from(model, (value) => Math.round(value * 3))).toEqual([-1, -1, -1, 0, 0, 0, 0, 0]);
  for (const [n, device] of devices.entries()) {
    const contribution = results[n];
    if (contribution?.kind !== 'accepted') throw new Error('not accepted');
    expect(await device.outcome(contribution)).toBe('included');
  }
});
