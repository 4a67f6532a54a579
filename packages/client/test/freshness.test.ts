/** The newest model is the newest: no replay, and no version that is older than one the device has seen signed. */
import { allSamples } from '@basa/learning';
import {
  type AuthorityStanding,
  beaconCodec,
  endorse,
  type ModelEntry,
  modelEntryCodec,
  standingsCodec,
} from '@basa/protocol';
import { describe, expect, it } from 'vitest';
import { connectTo, deltaOf, memoryStore } from './support/connect.ts';
import { bytes, type Reply } from './support/http-replies.ts';
import type { HttpServices } from './support/http-services.ts';
import { accepted, startClient, startServices } from './support/setup.ts';
import { tinyDataset, tinyModel } from './support/tiny.ts';

const STALE = { name: 'RefusedError', reason: 'model-stale' };

type Told = Pick<AuthorityStanding['beacon'], 'entry' | 'head'>;

/** The authority's statement, changed and signed by itself, as from a rolled-back one. */
function say({ shots, world }: HttpServices, change: (told: Told) => Partial<Told>): Reply {
  const { signer } = world.authority;
  const told = shots.standing();
  const body = { ...told.beacon, ...change(told.beacon) };
  const beacon = { ...body, signature: signer.sign(beaconCodec.statement(body)) };
  return bytes(standingsCodec.encode({ standings: [{ ...told, beacon }] }));
}

/** Shows statements that are changed like this. */
function show(services: HttpServices, change: (told: Told) => Partial<Told>): void {
  services.mischief = { before: ({ path }) => (path.endsWith('/standings') ? say(services, change) : undefined) };
}

/** Two contributions make version 1; the entry of version 0 is from before. */
async function movedOn(): Promise<{ services: HttpServices; before: ModelEntry }> {
  const services = await startServices({ bufferSize: 2 });
  const before = services.shots.standing().beacon.entry;
  for (let n = 0; n < 2; n++) accepted(await (await startClient(services)).contribute(deltaOf(n), { trainedOn: 0 }));
  services.shots.openBatch();
  expect(services.world.version).toBe(1);
  return { services, before };
}

describe('a statement about the newest model', () => {
  it('does not go back to an older version, in this process or the next', async () => {
    const { services, before } = await movedOn();
    const store = memoryStore();
    const client = await connectTo(services, { identity: store });
    expect((await client.model()).version).toBe(1);
    show(services, () => ({ entry: before }));
    await expect(client.model()).rejects.toThrow('version 0 after 1');
    await client.close();
    const again = await startClient(services, { identity: store });
    await expect(again.model()).rejects.toMatchObject(STALE);
    services.mischief = {};
    expect((await again.model()).version).toBe(1);
  });

  it('is remembered also once a session has ended', async () => {
    const { services, before } = await movedOn();
    const store = memoryStore();
    const client = await connectTo(services, { identity: store });
    const { version } = await client.model();
    accepted(await client.contribute(deltaOf(5), { trainedOn: version }));
    await client.close();
    show(services, () => ({ entry: before }));
    const again = await startClient(services, { identity: store });
    await expect(again.model()).rejects.toMatchObject(STALE);
  });

  it('has one hash for a version', async () => {
    const services = await startServices();
    const client = await startClient(services);
    await client.model();
    const { authority, policy } = services.world;
    show(services, ({ entry }) => {
      const body = { ...entry, modelHash: new Uint8Array(32).fill(7) };
      return { entry: endorse(modelEntryCodec, policy, authority.signer, body) };
    });
    await expect(client.model()).rejects.toMatchObject({ reason: 'other-model' });
    expect(await (await startClient(services)).contribute(deltaOf(1), { trainedOn: 1 })).toMatchObject({
      reason: 'model-not-logged',
    });
  });
});

it('run continues after a replay: it reports the replay, waits, and asks again', async () => {
  const { services, before } = await movedOn();
  const client = await startClient(services);
  await client.model();
  let lies = 2;
  services.mischief = {
    before: ({ path }) =>
      path.endsWith('/admissions') && lies-- > 0
        ? bytes(Buffer.from(JSON.stringify({ endsInMs: 60_000 })))
        : path.endsWith('/standings') && lies > -1
          ? say(services, () => ({ entry: before }))
          : undefined,
  };
  const trainer = { model: tinyModel, train: () => ({ delta: deltaOf(9), loss: 1, samples: 1 }) };
  const reasons = new Set<string>();
  client.on('rejected', ({ reason }) => reasons.add(reason));
  expect(await client.run(trainer, allSamples(tinyDataset), { rounds: 1 })).toMatchObject({
    accepted: 1,
    idle: 0,
    ended: 'rounds',
  });
  expect([...reasons]).toEqual(['model-stale']);
});
