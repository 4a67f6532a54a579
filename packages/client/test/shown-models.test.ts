/** The models and epochs in the one-shot mode: the server chooses what it shows, and the device what it believes. */
import { ONE_SHOT_DEFAULTS } from '@basa/protocol/policy';
import { type Epoch, ShownModel } from '@basa/protocol/wire';
import { describe, expect, it } from 'vitest';
import { connectTo, deltaOf, memoryStore } from './support/connect.ts';
import { bytes } from './support/services.ts';
import { accepted, othersGive, startClient, startServices } from './support/setup.ts';

const { epochMs } = ONE_SHOT_DEFAULTS;

const isModel = (path: string): boolean => path.endsWith('/models/newest');

/** With every clock so much further. */
async function later(ms: number, work: () => Promise<unknown>): Promise<void> {
  const realNow = Date.now;
  Date.now = () => realNow() + ms;
  try {
    await work();
  } finally {
    Date.now = realNow;
  }
}

describe('epochs that the server shows', () => {
  it('are refused once they are closed by the clock of the device, and the sentence names both causes', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const shown = bytes(ShownModel.encode(await services.shown()));
    services.mischief = { before: ({ path }) => (isModel(path) ? shown : undefined) };
    await later(epochMs + 1000, async () => {
      const late = await client.contribute(deltaOf(1), { trainedOn: 0 });
      expect(late).toMatchObject({ reason: 'epochs-missing', update: 'free' });
      await expect(client.model()).rejects.toThrow(/do not answer the server, or the clock of this device is wrong/);
    });
    expect(services.count('/shots/')).toBe(0);
  });

  it('are requested again before the upload if training took long, and otherwise not', async () => {
    const services = await startServices();
    const [quick, slow] = [await startClient(services), await startClient(services)];
    const asked = (): number => services.count('/models/newest');
    await quick.model();
    await slow.model();
    expect(asked()).toBe(2);
    accepted(await quick.contribute(deltaOf(1), { trainedOn: 0 }));
    expect(asked()).toBe(2);
    await later(epochMs - 60_000, async () => accepted(await slow.contribute(deltaOf(2), { trainedOn: 0 })));
    expect(asked()).toBe(3);
  });
});

describe('a model on which the device gave', () => {
  it('or an older one, is given on no more, also after a restart and if the server shows it again', async () => {
    const services = await startServices({ policy: { bufferSize: 2 } });
    const old = bytes(ShownModel.encode(await services.shown()));
    await othersGive(services);
    const store = memoryStore();
    const client = await connectTo(services, { identity: store });
    accepted(await client.contribute(deltaOf(1), { trainedOn: (await client.model()).version }));
    await client.close();
    services.mischief = { before: ({ path }) => (isModel(path) ? old : undefined) };
    const again = await startClient(services, { identity: store });
    const { version } = await again.model();
    expect(version).toBe(0);
    expect(await again.contribute(deltaOf(2), { trainedOn: version })).toMatchObject({ reason: 'version-given' });
    expect(services.accepted.size).toBe(3); // two of others
  });
});

it('an epoch that was opened for another task is not used', async () => {
  const [services, other] = [await startServices(), await startServices()];
  const client = await startClient(services);
  const [foreign] = (await other.shown()).epochs as [Epoch];
  const shown = ShownModel.encode({ ...(await services.shown()), epochs: [foreign] });
  services.mischief = { before: ({ path }) => (isModel(path) ? bytes(shown) : undefined) };
  await expect(client.model()).rejects.toMatchObject({ reason: 'epochs-missing' });
});
