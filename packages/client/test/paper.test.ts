/** `paper` mode over the network, for tasks that run in it and for no other. */

import { abeSealings } from '@basa/virtual-time/real-sealings';
import { describe, expect, it } from 'vitest';
import { unsafePaperContribute } from '../src/unsafe-paper/index.ts';
import { deltaOf } from './support/connect.ts';
import { PaperService } from './support/paper-service.ts';
import { accepted, reasonOf, startClient, startServices } from './support/setup.ts';

describe('unsafePaperContribute', () => {
  it('three users in turn give the mean of their updates', async () => {
    const services = await startServices({ sealings: abeSealings() });
    const paper = new PaperService(services.world);
    services.paper = paper;
    for (let n = 0; n < 3; n++) {
      const client = await startClient(services);
      const { slot } = accepted(await unsafePaperContribute(client, deltaOf(n), { trainedOn: 0 }));
      expect(slot).toBe(n);
    }
    const expected = deltaOf(0).map((x, k) => (x + (deltaOf(1)[k] as number) + (deltaOf(2)[k] as number)) / 3);
    const off = paper.mean.map((x, k) => Math.abs(x - (expected[k] as number)));
    expect(Math.max(...off)).toBeLessThan(1 / 1024);
    expect(reasonOf(await unsafePaperContribute(await startClient(services), deltaOf(5), { trainedOn: 0 }))).toBe(
      'buffer-full',
    );
  });

  it('refuses a task that does not run in paper mode, and an update that is too old', async () => {
    const services = await startServices({ sealings: abeSealings(), maxStaleness: 0 });
    const client = await startClient(services);
    await expect(unsafePaperContribute(client, deltaOf(0), { trainedOn: 0 })).rejects.toMatchObject({
      reason: 'not-paper-mode',
    });
    services.paper = new PaperService(services.world);
    expect(reasonOf(await unsafePaperContribute(client, deltaOf(0), { trainedOn: -1 }))).toBe('too-stale');
    expect(reasonOf(await unsafePaperContribute(client, new Float32Array(3), { trainedOn: 0 }))).toBe('wrong-length');
  });
});
