/** The server's memory of batches that have ended: nothing, however many there were. */

import { oneHot, TestServices, until } from '@basa/testkit/services/test-services.ts';
import { expect, it } from 'vitest';

const BATCHES = 8;

it(`after ${BATCHES} batches the server holds none in memory, and still knows the first`, async () => {
  const services = await TestServices.open({ policy: { bufferSize: 2, minimum: 2, dimension: BATCHES } });
  try {
    const devices = [await services.client('a'), await services.client('b')];
    let first: string | undefined;
    for (let version = 0; version < BATCHES; version++) {
      for (const device of devices) await device.model();
      const given = devices.map((device) => device.contribute(oneHot(version, BATCHES), { trainedOn: version }));
      const [one] = await Promise.all(given);
      if (one?.kind === 'accepted') first ??= one.ctx;
      await services.reached(version + 1);
    }
    await until(() => services.server.buffersInMemory() === 0);
    const { ctx = '' } = await services.fate(first as string);
    expect(await services.batchState(ctx)).toMatchObject({ status: 'included', users: { length: 2 } });
    expect(services.server.buffersInMemory()).toBe(0);
  } finally {
    await services.close();
  }
});
