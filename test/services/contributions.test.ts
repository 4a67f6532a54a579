/** Devices that give at the same time, or that leave before their first byte: which updates a version is made of. */
import { SERVER_PATH } from '@basa/protocol/http';
import { countsOf, oneHot } from '@basa/testkit/services/test-services.ts';
import { operate } from '@basa/testkit/world/operator.ts';
import { World, type WorldOptions } from '@basa/testkit/world/world.ts';
import { afterEach, expect, it } from 'vitest';

let world: World;
afterEach(() => world.close());

/** As many devices that have fetched the first model: a later device would get a newer one, as soon as a batch is full. */
async function opened(count: number, options: WorldOptions) {
  world = await World.open(options);
  const devices = await Promise.all(Array.from({ length: count }, () => world.device()));
  for (const device of devices) expect((await device.model()).version).toBe(0);
  return devices;
}

it('a device may leave before its first byte: the others make their mean without it', async () => {
  const [a, b, c] = await opened(3, { specification: { stallMs: 60_000 } });
  const leaving = new AbortController();
  b?.on('progress', ({ step }) => {
    if (step === 'upload') leaving.abort();
  });
  await expect(b?.contribute(oneHot(1), { trainedOn: 0, signal: leaving.signal })).rejects.toThrow();
  const given = await a?.contribute(oneHot(0), { trainedOn: 0 });
  if (given?.kind !== 'accepted') throw new Error(given?.reason);
  await c?.contribute(oneHot(2), { trainedOn: 0 });
  world.elapse(60_001);
  const { parameters } = await world.reached(1);
  expect(Array.from(parameters, (value) => Math.round(value * 2))).toEqual([-1, 0, -1, 0, 0, 0, 0, 0]);
  expect(await a?.fate(given)).toBe('included');
  // Its bytes wait on the device, and count in a later batch.
  expect(await b?.resume()).toMatchObject({ kind: 'accepted' });
});

it('many devices at the same time fill batches side by side, and each counts once in one of them', async () => {
  const devices = await opened(12, { policy: { dimension: 12 } });
  const given = await Promise.all(devices.map((device, n) => device.contribute(oneHot(n, 12), { trainedOn: 0 })));
  expect(given.map(({ kind }) => kind)).toEqual(Array(12).fill('accepted'));
  const { parameters } = await world.reached(4);
  const batchOf = async (result: (typeof given)[number]): Promise<unknown> => {
    const path = SERVER_PATH.shotFate(world.task, result.kind === 'accepted' ? result.ctx : '');
    const fate = await operate(world.wire.fetch, 'GET', new URL(path, world.serverUrl));
    return JSON.parse(Buffer.from(fate).toString()).ctx;
  };
  expect(new Set(await Promise.all(given.map(batchOf))).size).toBe(4);
  expect(countsOf(parameters, 3)).toEqual(Array(12).fill(1));
});
