/** `paper` mode over the network, for tasks that run in it and for no other. */

import { allSamples } from '@basa/learning';
import { ShownModel } from '@basa/protocol/wire';
import { describe, expect, it } from 'vitest';
import { unsafePaperContribute, unsafePaperRun } from '../src/unsafe-paper/index.ts';
import { deltaOf } from './support/connect.ts';
import { bytes, PAPER } from './support/services.ts';
import { accepted, reasonOf, startClient, startServices } from './support/setup.ts';
import { tinyDataset, tinyModel } from './support/tiny.ts';

describe('unsafePaperContribute', () => {
  it('three users in turn give the mean of their updates', async () => {
    const services = await startServices(PAPER);
    for (let n = 0; n < 3; n++) {
      const client = await startClient(services);
      const { costs, position } = accepted(await unsafePaperContribute(client, deltaOf(n), { trainedOn: 0 }));
      expect(position).toBe(n);
      expect(Object.keys(costs)).toEqual(['connect', 'key', 'mask', 'upload']);
    }
    const mean = deltaOf(0).map((x, k) => (x + (deltaOf(1)[k] as number) + (deltaOf(2)[k] as number)) / 3);
    const off = (await services.reached(1)).map((x, k) => Math.abs(x + (mean[k] as number)));
    expect(Math.max(...off)).toBeLessThan(1 / 1024);
  });

  it('refuses a task that does not run in paper mode, and an update that is too old', async () => {
    const [services, other] = [
      await startServices({ ...PAPER, policy: { ...PAPER.policy, maxStaleness: 0 } }),
      await startServices(),
    ];
    const client = await startClient(services);
    await expect(unsafePaperContribute(await startClient(other), deltaOf(0), { trainedOn: 0 })).rejects.toMatchObject({
      reason: 'not-paper-mode',
    });
    expect(reasonOf(await unsafePaperContribute(client, deltaOf(0), { trainedOn: -1 }))).toBe('too-stale');
    expect(reasonOf(await unsafePaperContribute(client, new Float32Array(3), { trainedOn: 0 }))).toBe('wrong-length');
  });
});

it('in paper mode, a device trains on the newest model that the server signed', async () => {
  const services = await startServices({ ...PAPER, policy: { ...PAPER.policy, bufferSize: 2 } });
  const client = await startClient(services);
  expect((await client.model()).version).toBe(0);
  for (const n of [0, 1]) await unsafePaperContribute(await startClient(services), deltaOf(n), { trainedOn: 0 });
  const next = await services.reached(1);
  const { version, parameters } = await client.model();
  expect([version, parameters]).toEqual([1, next]);
  const { statement } = await services.shown();
  const forged = ShownModel.encode({ statement: { ...statement, version: 2 }, epochs: [] });
  services.mischief = { before: ({ path }) => (path.endsWith('/models/newest') ? bytes(forged) : undefined) };
  await expect(client.model()).rejects.toMatchObject({ reason: 'model-invalid' });
});

it('unsafePaperRun trains and takes the position in turn, once in each buffer', async () => {
  const services = await startServices({ ...PAPER, policy: { ...PAPER.policy, bufferSize: 2 } });
  const clients = [await startClient(services), await startClient(services)];
  const trainer = { model: tinyModel, train: () => ({ delta: deltaOf(1), loss: 1, samples: 16 }) };
  const accepted: string[] = [];
  for (const client of clients) client.on('accepted', ({ ctx }) => accepted.push(ctx));
  const lives = clients.map((client) => unsafePaperRun(client, trainer, allSamples(tinyDataset), { rounds: 1 }));
  expect(await Promise.all(lives)).toEqual(Array(2).fill({ accepted: 1, rejected: 0, ended: 'rounds' }));
  expect(new Set(accepted).size).toBe(1);
});
