/** A device that is stopped at any step contributes once, with the same bytes. Crashes at durable steps are in one-shot.test.ts. */
import { describe, expect, it } from 'vitest';
import { connectTo, deltaOf, memoryStore } from './support/connect.ts';
import { accepted, startClient, startServices } from './support/setup.ts';

describe('an abort', () => {
  it('before the upload leaves nothing behind, and an aborted signal connects to nothing', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const signal = AbortSignal.abort(new Error('never'));
    await expect(client.contribute(deltaOf(1), { trainedOn: 0, signal })).rejects.toThrow('never');
    await expect(client.model({ signal })).rejects.toThrow('never');
    expect(client.isInterrupted).toBe(false);
    await expect(connectTo(services, { signal })).rejects.toThrow('never');
  });

  it('while waiting for the next try of a request ends the wait', async () => {
    const services = await startServices();
    const client = await startClient(services, { retry: { attempts: 5, firstWaitMs: 60_000, longestWaitMs: 60_000 } });
    services.mischief = { before: () => 'lost' };
    const controller = new AbortController();
    client.on('retry', () => controller.abort(new Error('enough')));
    await expect(client.model({ signal: controller.signal })).rejects.toThrow('enough');
  });
});

it('an interrupted session is finished first when another update is offered', async () => {
  const services = await startServices();
  const store = memoryStore();
  const client = await connectTo(services, { identity: store });
  const controller = new AbortController();
  client.on('progress', ({ step }) => step === 'upload' && controller.abort());
  await client.contribute(deltaOf(1), { trainedOn: 0, signal: controller.signal }).catch(() => undefined);
  await client.close();
  const other = await startClient(services);
  accepted(await other.contribute(deltaOf(3), { trainedOn: 0 }));
  const back = await startClient(services, { identity: store });
  expect(back.isInterrupted).toBe(true);
  const next = await back.contribute(deltaOf(2), { trainedOn: 0 });
  // The update of this version was given: it counts for the call that offers one on it.
  expect(next).toMatchObject({ kind: 'accepted', ctx: [...services.accepted][1] });
  expect(await back.contribute(deltaOf(2), { trainedOn: 0 })).toMatchObject({ reason: 'version-given' });
  expect(services.accepted.size).toBe(2);
});
