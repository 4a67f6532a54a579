/** What both services keep in memory of buffers that have ended: nothing, however many there were. */

import { House, oneHot, until } from '@basa/testkit/services/house.ts';
import { expect, it } from 'vitest';

const BUFFERS = 8;

it(`after ${BUFFERS} buffers neither service holds one in memory, and both still tell of the first`, async () => {
  const house = await House.open({ policy: { bufferSize: 2, minimum: 2, dimension: BUFFERS } });
  try {
    const devices = [await house.client('a'), await house.client('b')];
    let first: string | undefined;
    for (let version = 0; version < BUFFERS; version++) {
      const given = devices.map((device) => device.contribute(oneHot(version, BUFFERS), { trainedOn: version }));
      const [one] = await Promise.all(given);
      if (one?.kind === 'accepted') first ??= one.ctx;
      await house.reached(version + 1);
    }
    await until(() => house.server.buffersInMemory() === 0 && house.authority.buffersInMemory() === 0);
    expect(await house.bufferState(first as string)).toMatchObject({ status: 'included', accepted: [0, 1] });
    expect(house.server.buffersInMemory()).toBe(0);
  } finally {
    await house.close();
  }
});
