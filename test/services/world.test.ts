/** The world of tests and laboratory: real services without sockets, on one clock. */
import { countsOf, oneHot } from '@basa/testkit/services/test-services.ts';
import { ALONE, deviceStore, type Shape, THREE_OF_FOUR, World } from '@basa/testkit/world/world.ts';
import { afterEach, describe, expect, it } from 'vitest';

const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

async function opened(shape: Shape): Promise<World> {
  const world = await World.open({ shape, policy: { minimum: 3 } });
  worlds.push(world);
  return world;
}

/** Three devices give, and their sum is the next version. */
async function learned(world: World, version: number, places: readonly number[]): Promise<void> {
  const devices = await Promise.all(places.map(() => world.device()));
  const before = (await devices[0]?.model())?.parameters ?? new Float32Array();
  for (const [n, device] of devices.entries()) {
    const model = await device.model();
    expect(model.version).toBe(version);
    const given = await device.contribute(oneHot(places[n] as number), { trainedOn: version });
    expect(given).toMatchObject({ kind: 'accepted' });
  }
  const { parameters } = await world.reached(version + 1);
  const moved = parameters.map((value, place) => value - (before[place] ?? 0));
  expect(countsOf(moved, places.length)).toEqual(oneHotSum(places));
}

function oneHotSum(places: readonly number[]): number[] {
  return Array.from({ length: 8 }, (_, place) => places.filter((one) => one === place).length);
}

describe.each([
  ['one authority', ALONE],
  ['3 of 4 authorities', THREE_OF_FOUR],
] as const)('with %s', (_, shape) => {
  it('devices learn together, and services that start again go on', async () => {
    const world = await opened(shape);
    await learned(world, 0, [0, 1, 2]);
    for (const authority of world.authorities) await authority.restart();
    await world.restartServer();
    await learned(world, 1, [3, 4, 5]);
  });

  it('a device whose answer was lost comes back with its store, and counts once', async () => {
    const world = await opened(shape);
    const store = deviceStore();
    const device = await world.device({ store });
    await device.model();
    world.wire.faults.push(({ method }) => (method === 'PUT' ? 'answer-lost' : undefined));
    await expect(device.contribute(oneHot(7), { trainedOn: 0 })).rejects.toMatchObject({ code: 'unreachable' });
    world.wire.faults.length = 0;
    const again = await world.device({ store });
    await expect(again.resume()).resolves.toMatchObject({ kind: 'accepted' });
  });
});
