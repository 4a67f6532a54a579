/** The one-shot mode: one message, and the same bytes after a crash. */
import { allSamples, createReferenceBackend, createTrainer } from '@basa/learning';
import { fromHex, toHex } from '@basa/masking';
import { HEADER } from '@basa/protocol/http';
import { ONE_SHOT_DEFAULTS, type OneShotPolicy } from '@basa/protocol/policy';
import { ShotHeader, ShotUpload, shotLayout } from '@basa/protocol/wire';
import { describe, expect, it } from 'vitest';
import { dieAndComeBack } from './support/come-back.ts';
import { connectTo, deltaOf, memoryStore } from './support/connect.ts';
import { isPiece, problem, type Services } from './support/services.ts';
import { accepted, othersGive, reasonOf, startClient, startServices } from './support/setup.ts';
import { tinyDataset, tinyModel } from './support/tiny.ts';

/** Every header that was signed, and every piece by its place: one value each, however often it was sent. */
function whatLeft(services: Services): Map<string, Set<string>> {
  const left = new Map<string, Set<string>>();
  const note = (name: string, value: string): void => void left.set(name, (left.get(name) ?? new Set()).add(value));
  for (const { path, method, headers, body } of services.asked) {
    if (method !== 'PUT' || !path.includes('/shots/')) continue;
    const { header } = ShotUpload.decode(fromHex(String(headers[HEADER.upload])) ?? new Uint8Array());
    note('header', toHex(ShotHeader.statement(header)));
    if (body !== undefined) note(String(headers[HEADER.uploadOffset]), toHex(body));
  }
  return left;
}

/** A version is made of exactly these updates: a step goes against their mean. */
function expectStep(parameters: Float32Array, deltas: readonly Float32Array[]): void {
  for (const [k, value] of parameters.entries()) {
    const mean = deltas.reduce((total, delta) => total + (delta[k] as number), 0) / deltas.length;
    expect(value).toBeCloseTo(-mean, 2);
  }
}

describe('a contribution in one message', () => {
  it('is not given before the pause is over that the task asks for, although there is a newer model', async () => {
    const services = await startServices({ policy: { oneShot: { ...ONE_SHOT_DEFAULTS, minIntervalMs: 3_600_000 } } });
    const client = await startClient(services);
    await client.model();
    accepted(await client.contribute(deltaOf(0), { trainedOn: 0 }));
    await othersGive(services, 2);
    const { version } = await client.model();
    const early = await client.contribute(deltaOf(1), { trainedOn: version });
    expect(early).toMatchObject({ reason: 'given-lately', update: 'free', retryAfterMs: expect.any(Number) });
  });

  it('is in the sum of its batch; the device talks only to the server', async () => {
    const services = await startServices({ policy: { clip: 10 } });
    const clients = [await startClient(services), await startClient(services), await startClient(services)];
    services.asked.length = 0;
    const contributions = [];
    for (const [n, client] of clients.entries()) {
      expect((await client.model()).version).toBe(0);
      contributions.push(accepted(await client.contribute(deltaOf(n), { trainedOn: 0 })));
    }
    expect(services.asked.filter(({ host }) => host === 'authority')).toEqual([]);
    const [first] = contributions;
    expect(first).toMatchObject({ ctx: [...services.accepted][0] });
    expect(Object.keys(first?.costs ?? {})).toEqual(['mask', 'upload']);
    expect(await clients[0]?.fate(first as never)).toBe('waiting');

    expectStep(await services.reached(1), [0, 1, 2].map(deltaOf));
    expect(await clients[0]?.fate(first as never)).toBe('included');
    expect((await clients[0]?.model())?.version).toBe(1);
  });

  it('that is sealed with ML-KEM as well opens in the sum of its batch', async () => {
    const oneShot: OneShotPolicy = { ...ONE_SHOT_DEFAULTS, sealing: 'x25519+mlkem768' };
    const services = await startServices({ policy: { oneShot, clip: 10 } });
    for (let n = 0; n < 3; n++) {
      const client = await startClient(services);
      await client.model();
      accepted(await client.contribute(deltaOf(n), { trainedOn: 0 }));
    }
    const { vectorBytes } = shotLayout(services.policy, []);
    expect(services.asked.find(isPiece)?.body).toHaveLength(vectorBytes + 32 + 1088 + 32);
    expectStep(await services.reached(1), [0, 1, 2].map(deltaOf));
  });

  it('takes three requests, all to the server: a place with statements, the model, the upload', async () => {
    const services = await startServices();
    const client = await startClient(services);
    services.asked.length = 0;
    const trainer = createTrainer(createReferenceBackend(tinyModel));
    const ran = await client.run(trainer, allSamples(tinyDataset), { rounds: 1 });
    expect(ran).toEqual({ accepted: 1, rejected: 0, ended: 'rounds' });
    const rooms = services.asked.map(({ method, path }) => `${method} ${path.split('/')[4]}`);
    expect(rooms).toEqual(['POST admissions', 'GET models', 'PUT shots']);
  });

  it('ends its run with a word, and no error, if the task ends while the upload is on its way', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const trainer = createTrainer(createReferenceBackend(tinyModel));
    services.mischief = { before: ({ path }) => (path.includes('/shots/') ? problem('task-finished') : undefined) };
    const ran = await client.run(trainer, allSamples(tinyDataset), { rounds: 1 });
    expect(ran).toMatchObject({ accepted: 0, ended: 'task-finished' });
  });

  it.each(['task-paused', 'task-storage-full'] as const)(
    'waits on the device after %s, and is sent later',
    async (code) => {
      const services = await startServices();
      const client = await startClient(services);
      await client.model();
      const stops = (): void => {
        const before = ({ path }: { path: string }) =>
          path.includes('/shots/') ? problem(code, { retryAfterMs: 7 }) : undefined;
        services.mischief = { before };
      };
      stops();
      const waits = { kind: 'rejected', reason: code, update: 'given', retryAfterMs: 7 };
      expect(await client.contribute(deltaOf(1), { trainedOn: 0 })).toMatchObject(waits);
      expect(client.isInterrupted).toBe(true);
      expect(await client.resume()).toMatchObject(waits);
      for (const n of [1, 2]) expect(await client.contribute(deltaOf(n), { trainedOn: 0 })).toMatchObject(waits);
      services.mischief = {};
      accepted((await client.resume()) as never);
      expect(services.accepted.size).toBe(1);
      expect([...whatLeft(services).values()].map(({ size }) => size)).toEqual([1, 1]);
    },
  );

  it('goes on with its run after the task was paused while the upload was on its way', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const trainer = createTrainer(createReferenceBackend(tinyModel));
    let refused = 0;
    const before = ({ path, method }: { path: string; method: string }) =>
      method === 'PUT' && path.includes('/shots/') && refused++ < 2
        ? problem('task-paused', { retryAfterMs: 1 })
        : undefined;
    services.mischief = { before };
    const ran = await client.run(trainer, allSamples(tinyDataset), { rounds: 1 });
    expect(ran).toMatchObject({ accepted: 1, rejected: 2, ended: 'rounds' });
  });

  it('of a device that comes back takes no authority at all', async () => {
    const services = await startServices();
    const store = memoryStore();
    await (await connectTo(services, { identity: store })).close();
    services.asked.length = 0;
    const back = await startClient(services, { identity: store });
    accepted(await back.contribute(deltaOf(1), { trainedOn: 0 }));
    expect(services.asked.filter(({ host }) => host === 'authority')).toEqual([]);
  });

  it('is one for each version, and another on the next one', async () => {
    const services = await startServices();
    const [client, other] = [await startClient(services), await startClient(services)];
    await client.model();
    accepted(await client.contribute(deltaOf(1), { trainedOn: 0 }));
    expect(reasonOf(await client.contribute(deltaOf(2), { trainedOn: 0 }))).toBe('version-given');
    accepted(await other.contribute(deltaOf(3), { trainedOn: 0 }));
    await othersGive(services, 1);
    expect(reasonOf(await client.contribute(deltaOf(1), { trainedOn: 0 }))).toBe('version-given');
    await client.model();
    accepted(await client.contribute(deltaOf(2), { trainedOn: 1 }));
  });

  it('on a version that is too old for the task is kept, and nothing of it is sent', async () => {
    const services = await startServices({ policy: { maxStaleness: 0, bufferSize: 2 } });
    const clients = [await startClient(services), await startClient(services), await startClient(services)];
    await clients[2]?.model();
    for (const [n, client] of clients.slice(0, 2).entries())
      accepted(await client.contribute(deltaOf(n), { trainedOn: 0 }));
    await services.reached(1);
    await clients[2]?.model();
    const late = await clients[2]?.contribute(deltaOf(7), { trainedOn: 0 });
    expect(late).toMatchObject({ reason: 'version-over', update: 'free' });
    expect(services.accepted.size).toBe(2);
  });
});

describe.each(['before', 'after'] as const)('a process that dies right %s a durable step', (when) => {
  it('starts again, sends the same bytes or nothing, and contributes exactly once', async () => {
    let steps = 0;
    for (let at = 0; ; at++) {
      const services = await startServices();
      const hasDied = await dieAndComeBack(services, memoryStore(), { at, when, steps: 0 });
      expect(services.accepted.size, `step ${at}`).toBe(1);
      for (const [name, values] of whatLeft(services)) expect(values.size, `step ${at}: ${name}`).toBe(1);
      if (!hasDied) break;
      steps = at + 1;
    }
    // Body dropped at opening, certificate, policy, shot with its body, ended, body dropped.
    expect(steps).toBe(6);
  });
});

describe('an upload', () => {
  it('that is stopped continues from the bytes that the server has, with the same bytes', async () => {
    const services = await startServices();
    const client = await startClient(services, { pieceBytes: 50 });
    const controller = new AbortController();
    const off = client.on('progress', ({ step, sent = 0 }) => step === 'upload' && sent >= 50 && controller.abort());
    const { signal } = controller;
    await expect(client.contribute(deltaOf(1), { trainedOn: 0, signal })).rejects.toThrow();
    off();
    const sentBefore = services.count('/shots/', 'PUT');
    accepted(await client.resume());
    expect(services.count('/shots/', 'HEAD')).toBe(1);
    expect(sentBefore).toBeGreaterThan(0);
    for (const [name, values] of whatLeft(services)) expect(values.size, name).toBe(1);
  });

  it('that is given up after its bytes may have left was given', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const controller = new AbortController();
    const off = client.on('progress', ({ step }) => step === 'upload' && controller.abort());
    const { signal } = controller;
    await client.contribute(deltaOf(1), { trainedOn: 0, signal }).catch(() => undefined);
    off();
    expect(client.isInterrupted).toBe(true);
    await client.discard();
    expect(await client.contribute(deltaOf(1), { trainedOn: 0 })).toMatchObject({
      reason: 'version-given',
      update: 'free',
    });
  });
});
