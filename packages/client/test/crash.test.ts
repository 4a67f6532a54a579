/** A device that dies at any durable step, or is stopped at any step, contributes once, with the same bytes. */
import { fromHex, toHex } from '@basa/masking';
import { authorityMessages, HEADER } from '@basa/protocol';
import { describe, expect, it } from 'vitest';
import { dieAndComeBack } from './support/come-back.ts';
import { connectTo, deltaOf, memoryStore } from './support/connect.ts';
import type { Crashes } from './support/crashing-store.ts';
import type { HttpServices } from './support/http-services.ts';
import { accepted, startClient, startServices } from './support/setup.ts';

/** Everything this device ever gave the server, by buffer: deposits, statements of upload headers, and bodies by offset. */
function whatLeft(services: HttpServices): { deposits: Map<string, Set<string>>; uploads: Map<string, Set<string>> } {
  const [deposits, uploads] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()];
  const note = (map: Map<string, Set<string>>, name: string, value: string): void => {
    map.set(name, (map.get(name) ?? new Set()).add(value));
  };
  const { bufferSize } = services.world.policy;
  for (const { path, method, headers, body } of services.asked) {
    if (path.endsWith('/deposits'))
      note(deposits, path, toHex(services.world.server.messages.deposit.decode(body).root));
    if (!path.endsWith('/upload') || method !== 'PUT') continue;
    const { uploadHeader } = authorityMessages(bufferSize);
    const header = uploadHeader.decode(fromHex(String(headers[HEADER.upload])) ?? new Uint8Array());
    note(uploads, `${path} header`, toHex(uploadHeader.statement(header)));
    if (body.length > 0) note(uploads, `${path} ${headers[HEADER.uploadOffset]}`, toHex(body));
  }
  return { deposits, uploads };
}

function acceptedUploads({ world }: HttpServices): number {
  return [...world.server.buffers.values()].flatMap(({ slots }) => slots.filter(({ header }) => header)).length;
}

describe.each(['before', 'after'] as const)('a process that dies right %s a durable step', (when) => {
  it('starts again, continues with the same bytes, and contributes exactly once', async () => {
    let steps = 0;
    for (let at = 0; ; at++) {
      const services = await startServices();
      const crashes: Crashes = { at, when, steps: 0 };
      const hasDied = await dieAndComeBack(services, memoryStore(), crashes);
      expect(acceptedUploads(services), `step ${at}`).toBe(1);
      const { deposits, uploads } = whatLeft(services);
      for (const [name, values] of [...deposits, ...uploads]) expect(values.size, `step ${at}: ${name}`).toBe(1);
      if (!hasDied) break;
      steps = at + 1;
    }
    // Input dropped at opening, certificate, version seen, input, prepared, slotted, frozen, ended, input dropped.
    expect(steps).toBe(9);
  });
});

/** Several updates of one device on one version. */
const MIXED = { policy: { versions: 'unsafeMixed' } } as const;

describe('an abort', () => {
  it.each(['deposit', 'key', 'mask', 'upload'] as const)(
    'at step %s leaves a session that can continue',
    async (step) => {
      const services = await startServices();
      const client = await startClient(services, { pieceBytes: 100 });
      const controller = new AbortController();
      const off = client.on('progress', (event) => {
        if (event.step === step) controller.abort(new Error('stopped by the test'));
      });
      const { signal } = controller;
      await expect(client.contribute(deltaOf(1), { trainedOn: 0, signal })).rejects.toThrow('stopped by the test');
      off();
      expect(client.isInterrupted).toBe(true);
      accepted(await client.resume());
      expect(client.isInterrupted).toBe(false);
      expect(acceptedUploads(services)).toBe(1);
      for (const [name, values] of whatLeft(services).uploads) expect(values.size, name).toBe(1);
    },
  );

  it('before the seat leaves nothing behind, and an aborted signal connects to nothing', async () => {
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
    services.mischief = { before: () => 'cut' };
    const controller = new AbortController();
    client.on('retry', () => controller.abort(new Error('enough')));
    await expect(client.model({ signal: controller.signal })).rejects.toThrow('enough');
  });
});

describe('an interrupted session', () => {
  it('is finished first when another update is offered', async () => {
    const services = await startServices(MIXED);
    const store = memoryStore();
    const client = await connectTo(services, { identity: store });
    const controller = new AbortController();
    client.on('progress', ({ step }) => step === 'upload' && controller.abort());
    await client.contribute(deltaOf(1), { trainedOn: 0, signal: controller.signal }).catch(() => undefined);
    const back = await startClient(services, { identity: store });
    accepted(await back.contribute(deltaOf(2), { trainedOn: 0 }));
    expect(acceptedUploads(services)).toBe(2);
  });

  it('that is given up before its bytes left frees its update; after that, it stays held', async () => {
    const services = await startServices(MIXED);
    const client = await startClient(services);
    for (const [n, step] of (['key', 'upload'] as const).entries()) {
      const controller = new AbortController();
      const off = client.on('progress', (event) => event.step === step && controller.abort());
      await client.contribute(deltaOf(n), { trainedOn: 0, signal: controller.signal }).catch(() => undefined);
      off();
      expect(client.isInterrupted).toBe(true);
      await client.discard();
      expect(client.isInterrupted).toBe(false);
    }
    accepted(await client.contribute(deltaOf(0), { trainedOn: 0 }));
    expect(await client.contribute(deltaOf(1), { trainedOn: 0 })).toMatchObject({ reason: 'delta-committed' });
  });

  it('whose slot was lost in the meantime is abandoned, and its update enters another buffer', async () => {
    const services = await startServices({ uploadLeaseMs: 60_000 });
    const client = await startClient(services);
    const controller = new AbortController();
    const off = client.on('progress', ({ step }) => step === 'key' && controller.abort());
    await client.contribute(deltaOf(1), { trainedOn: 0, signal: controller.signal }).catch(() => undefined);
    off();
    const realNow = Date.now;
    Date.now = () => realNow() + 61_000;
    try {
      expect(await client.resume()).toMatchObject({ reason: 'lease-over', update: 'free' });
      accepted(await client.contribute(deltaOf(1), { trainedOn: 0 }));
    } finally {
      Date.now = realNow;
    }
  });
});
