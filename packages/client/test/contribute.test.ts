/** A device in a task, over real HTTP, against the real cores of server and authority. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deltaOf } from './support/connect.ts';
import { DIMENSION, json, PAPER, problem } from './support/services.ts';
import { accepted, reasonOf, startClient, startServices, temporaryFolder } from './support/setup.ts';

describe('a whole contribution', () => {
  it('tells its progress, step by step', async () => {
    const services = await startServices();
    const client = await startClient(services, { pieceBytes: 64 });
    const steps: string[] = [];
    const off = client.on('progress', ({ step, sent, total }) =>
      steps.push(sent === undefined ? step : `${sent}/${total}`),
    );
    const ends: string[] = [];
    client.on('accepted', ({ kind }) => ends.push(kind));
    client.on('rejected', ({ reason }) => ends.push(reason));
    accepted(await client.contribute(deltaOf(0), { trainedOn: 0 }));
    off();
    expect(steps).toEqual(['mask', '0/260', '64/260', '128/260', '192/260', '256/260', '260/260']);
    const other = await startClient(services);
    other.on('rejected', ({ reason }) => ends.push(reason));
    await other.contribute(deltaOf(0).subarray(1), { trainedOn: 0 });
    expect(ends).toEqual(['accepted', 'wrong-length']);
    expect(steps).toHaveLength(7);
  });

  it('a device that was enrolled connects again without a token', async () => {
    const services = await startServices();
    const identity = join(temporaryFolder(), 'device');
    const first = await startClient(services, { identity });
    const key = first.deviceKey;
    await first.close();
    await expect(first.model()).rejects.toThrow('connect again');
    const second = await startClient(services, { identity, token: 'ff'.repeat(32) });
    expect(second.deviceKey).toEqual(key);
    accepted(await second.contribute(deltaOf(1), { trainedOn: 0 }));
  });
});

it('a device that was revoked is rejected', async () => {
  const services = await startServices();
  const client = await startClient(services);
  services.mischief = { before: ({ path }) => (path.endsWith('/admissions') ? problem('revoked') : undefined) };
  await expect(client.admission()).resolves.toMatchObject({ reason: 'revoked' });
});

describe('whole parameters after a training', () => {
  it('give the update that leads to them from the model that the device fetched', async () => {
    const services = await startServices({ policy: { bufferSize: 2 } });
    for (const value of [1, 3]) {
      const client = await startClient(services);
      expect(() => client.contributeWeights(new Float32Array(DIMENSION))).toThrow('call model() first');
      const { parameters } = await client.model();
      expect(() => client.contributeWeights(parameters.subarray(1))).toThrow('has 40 parameters, got 39');
      accepted(await client.contributeWeights(parameters.map((before) => before + value / 10)));
    }
    const next = await services.reached(1);
    for (const parameter of next) expect(parameter).toBeCloseTo(0.2, 2);
  });
});

describe('with one update a version', () => {
  it('a second update on a version is refused before anything is sent, also after a restart of the device', async () => {
    const services = await startServices();
    const identity = join(temporaryFolder(), 'device');
    const first = await startClient(services, { identity });
    accepted(await first.contribute(deltaOf(0), { trainedOn: 0 }));
    const uploads = services.count('/shots/', 'PUT');
    const refused = { reason: 'version-given', update: 'free' };
    expect(await first.contribute(deltaOf(7), { trainedOn: 0 })).toMatchObject(refused);
    await first.close();
    const again = await startClient(services, { identity });
    expect(await again.contribute(deltaOf(7), { trainedOn: 0 })).toMatchObject(refused);
    expect(services.count('/shots/', 'PUT')).toBe(uploads);
  });

  it('an update on a version that this device has never seen is refused, with advice', async () => {
    const services = await startServices();
    const client = await startClient(services);
    expect(await client.contribute(deltaOf(1), { trainedOn: 5 })).toMatchObject({
      reason: 'model-unknown',
      detail: expect.stringContaining('fetch the newest version with model()'),
    });
  });
});

describe('updates that are not accepted', () => {
  it('an update of another length', async () => {
    const services = await startServices();
    const client = await startClient(services);
    expect(reasonOf(await client.contribute(new Float32Array(3), { trainedOn: 0 }))).toBe('wrong-length');
    expect(services.count('/shots/')).toBe(0);
  });

  it('an invalid update is an error of the caller, before any request', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const before = services.asked.length;
    await expect(client.contribute(deltaOf(1), { trainedOn: 0.5 })).rejects.toThrow('trainedOn must be the version');
    await expect(client.contribute(deltaOf(1), { trainedOn: 0, exampleWeight: 0 })).rejects.toThrow('(0, 1]');
    expect(services.asked).toHaveLength(before);
  });

  it('an update in a task of the paper, whose unsafe mode has a call of its own', async () => {
    const services = await startServices(PAPER);
    const client = await startClient(services);
    const refused = { name: 'RefusedError', reason: 'paper-mode' };
    await expect(client.contribute(deltaOf(1), { trainedOn: 0 })).rejects.toMatchObject(refused);
    await expect(client.run({} as never, {} as never)).rejects.toMatchObject(refused);
  });

  it('a second one on a version is refused, whatever became of the first', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const contribution = accepted(await client.contribute(deltaOf(1), { trainedOn: 0 }));
    for (const fate of ['waiting', 'version-over', 'refused', 'quarantined', 'unknown'] as const) {
      services.mischief = { before: ({ path }) => (path.endsWith('/fate') ? json({ fate }) : undefined) };
      expect(await client.fate(contribution)).toBe(fate);
      expect(await client.contribute(deltaOf(1), { trainedOn: 0 })).toMatchObject({
        reason: 'version-given',
        update: 'free',
      });
    }
    expect(services.count('/shots/', 'PUT')).toBe(1);
  });

  it('an upload that the server refused was given: its version is over for the device', async () => {
    const services = await startServices();
    const client = await startClient(services);
    services.mischief = {
      before: ({ path, method }) => (path.includes('/shots/') && method === 'PUT' ? problem('epoch-over') : undefined),
    };
    const refused = { reason: 'epoch-over', update: 'given' };
    expect(await client.contribute(deltaOf(1), { trainedOn: 0 })).toMatchObject(refused);
    expect(client.isInterrupted).toBe(false);
    services.mischief = {};
    expect(reasonOf(await client.contribute(deltaOf(1), { trainedOn: 0 }))).toBe('version-given');
    expect(services.accepted.size).toBe(0);
  });
});
