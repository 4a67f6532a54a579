/** Statements of the authorities in the one-shot mode: the server chooses what it shows, and the device what it believes. */
import { ONE_SHOT_DEFAULTS, standingsCodec } from '@basa/protocol';
import { describe, expect, it } from 'vitest';
import { connectTo, deltaOf, memoryStore } from './support/connect.ts';
import { bytes } from './support/http-replies.ts';
import type { HttpServices } from './support/http-services.ts';
import { accepted, startClient, startServices } from './support/setup.ts';

const MINUTE_MS = 60_000;

const isStandings = (path: string): boolean => path.endsWith('/standings');

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

describe('statements of the authorities that the server hands on', () => {
  /** The same bytes for every question from now on. */
  function freeze(services: HttpServices): void {
    const shown = bytes(standingsCodec.encode({ standings: [services.shots.standing()] }));
    services.mischief = { before: ({ path }) => (isStandings(path) ? shown : undefined) };
  }

  it('are refused once they are older than the policy allows, and the sentence names both causes', async () => {
    const services = await startServices();
    const client = await startClient(services);
    freeze(services);
    await later(ONE_SHOT_DEFAULTS.freshMs + MINUTE_MS, async () => {
      const late = await client.contribute(deltaOf(1), { trainedOn: 0 });
      expect(late).toMatchObject({ reason: 'standings-stale', update: 'free' });
      const detail = expect.stringMatching(/^its signed time is 36\d s before this clock; 300 s/);
      expect(late).toMatchObject({ detail });
      await expect(client.model()).rejects.toThrow(/old statements, or the clock of this device is wrong/);
    });
    expect(services.count('/shots/')).toBe(0);
  });

  it('never go back behind an epoch that the device has seen, also after a restart', async () => {
    const services = await startServices({
      policy: { oneShot: { ...ONE_SHOT_DEFAULTS, epochMs: 2 * MINUTE_MS } },
    });
    const store = memoryStore();
    const client = await connectTo(services, { identity: store });
    const old = bytes(standingsCodec.encode({ standings: [services.shots.standing()] }));
    services.world.aheadMs = 1.5 * MINUTE_MS + 1000; // another epoch opens
    await client.model();
    services.mischief = { before: ({ path }) => (isStandings(path) ? old : undefined) };
    const isOld = {
      reason: 'standings-stale',
      message: expect.stringContaining('of authority 0 is an old one'),
    };
    await expect(client.model()).rejects.toMatchObject(isOld);
    await client.close();
    const back = await startClient(services, { identity: store });
    await expect(back.model()).rejects.toMatchObject(isOld);
  });

  it('are requested again if they are older than those of another node of the server', async () => {
    const services = await startServices({
      policy: { oneShot: { ...ONE_SHOT_DEFAULTS, epochMs: 2 * MINUTE_MS } },
    });
    const client = await startClient(services);
    const old = bytes(standingsCodec.encode({ standings: [services.shots.standing()] }));
    services.world.aheadMs = 1.5 * MINUTE_MS + 1000; // another epoch opens
    await client.model();
    let behind = 2;
    services.mischief = { before: ({ path }) => (isStandings(path) && behind-- > 0 ? old : undefined) };
    expect((await client.model()).version).toBe(0);
    expect(behind).toBe(-1);
  });

  it('are requested again before the upload if training took long, and otherwise not', async () => {
    const services = await startServices();
    const [quick, slow] = [await startClient(services), await startClient(services)];
    const asked = (): number => services.count('/standings');
    await quick.model();
    await slow.model();
    expect(asked()).toBe(2);
    accepted(await quick.contribute(deltaOf(1), { trainedOn: 0 }));
    expect(asked()).toBe(2);
    await later(ONE_SHOT_DEFAULTS.freshMs / 2 + 1000, async () =>
      accepted(await slow.contribute(deltaOf(2), { trainedOn: 0 })),
    );
    expect(asked()).toBe(3);
  });

  it('are judged by the time of the authorities if the clock of the device was set wrong since', async () => {
    const services = await startServices();
    const client = await startClient(services);
    services.world.aheadMs = 20 * MINUTE_MS;
    expect((await client.model()).version).toBe(0);
    services.world.aheadMs = 49 * 60 * MINUTE_MS;
    await expect(client.model()).rejects.toThrow(/clock of this device differs by more than a day/);
  });
});
