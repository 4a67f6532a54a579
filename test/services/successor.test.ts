/** A task that succeeds another one: its devices keep their keys, and what they gave and spent. */
import { oneHot } from '@basa/testkit/services/test-services.ts';
import { deviceStore, World } from '@basa/testkit/world/world.ts';
import { afterEach, describe, expect, it } from 'vitest';

let world: World;
afterEach(() => world.close());

async function gave(device: Awaited<ReturnType<World['device']>>, place: number): Promise<string> {
  const { version } = await device.model();
  const result = await device.contribute(oneHot(place, 8), { trainedOn: version });
  return result.kind === 'accepted' ? 'accepted' : result.reason;
}

describe('a device', () => {
  it('goes on in a task only if its application says which one that succeeds, and gives on the same model once', async () => {
    world = await World.open({ policy: { bufferSize: 2, minimum: 2 } });
    const store = deviceStore();
    const first = await world.device({ store });
    expect(await gave(first, 0)).toBe('accepted');
    const predecessor = world.task;
    await world.createTask();
    await expect(world.device({ store })).rejects.toMatchObject({ reason: 'store-of-another-task' });
    await expect(world.device({ store, predecessor: 'ab'.repeat(32) })).rejects.toMatchObject({
      reason: 'store-of-another-task',
    });
    const device = await world.device({ store, predecessor });
    expect(await gave(device, 1)).toBe('version-given'); // it has the parameters on which the device gave
    for (const place of [2, 3]) expect(await gave(await world.device(), place)).toBe('accepted');
    await world.reached(1);
    world.elapse(1000);
    expect(await gave(device, 4)).toBe('accepted');
  });
});
