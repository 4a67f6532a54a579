/** A device in a task, over real HTTP, against the real cores of server and authority. */
import { join } from 'node:path';
import { seatRequestCodec } from '@basa/protocol';
import { abeSealings } from '@basa/virtual-time/real-sealings';
import { describe, expect, it } from 'vitest';
import { BasaClient, type Contribution } from '../src/node/index.ts';
import { deltaOf, optionsFor } from './support/connect.ts';
import { problem } from './support/http-replies.ts';
import { accepted, reasonOf, startClient, startServices, temporaryFolder } from './support/setup.ts';
import { DIMENSION, parametersOf } from './support/test-world.ts';

/** Several updates of one device on one version. */
const MIXED = { policy: { versions: 'unsafeMixed' } } as const;

describe('a whole contribution', () => {
  it('three devices fill a buffer: the authority confirms each as included, and the sum is the sum of their updates', async () => {
    const services = await startServices();
    const folder = temporaryFolder();
    const contributions: Contribution[] = [];
    const clients: BasaClient[] = [];
    for (let n = 0; n < 3; n++) {
      const device = await startClient(services, { identity: join(folder, `device-${n}`) });
      clients.push(device);
      const { version, parameters } = await device.model();
      expect(version).toBe(0);
      expect(parameters).toEqual(parametersOf(0));
      const result = accepted(await device.contribute(deltaOf(n), { trainedOn: version }));
      expect(result.slot).toBe(n);
      expect(Object.keys(result.costs).sort()).toEqual(['deposit', 'key', 'mask', 'seat', 'upload']);
      expect(result.costs.upload?.sent).toBeGreaterThan(4 * DIMENSION);
      contributions.push(result);
    }
    for (const [n, contribution] of contributions.entries()) {
      expect(await clients[n]?.outcome(contribution)).toBe('included');
    }
    expect((await clients[0]?.model())?.version).toBe(1);
    // The test server keeps the sum in whole numbers.
    const expected = Array.from(deltaOf(0), (x, k) => x + (deltaOf(1)[k] as number) + (deltaOf(2)[k] as number));
    const off = services.world.server.models[1]?.sum.map((value, k) => Math.abs(value - (expected[k] as number)));
    expect(Math.max(...(off ?? []))).toBeLessThan(0.51);
  });

  it('works with CP-ABE as well', async () => {
    const services = await startServices({ sealings: abeSealings(), bufferSize: 2 });
    for (let n = 0; n < 2; n++) {
      accepted(await (await startClient(services)).contribute(deltaOf(n), { trainedOn: 0 }));
    }
    expect(services.world.version).toBe(1);
  });

  it('tells its progress, step by step', async () => {
    const services = await startServices(MIXED);
    const client = await startClient(services, { pieceBytes: 64 });
    const steps: string[] = [];
    const off = client.on('progress', ({ step, sent, total }) =>
      steps.push(sent === undefined ? step : `${sent}/${total}`),
    );
    const outcomes: string[] = [];
    client.on('accepted', ({ kind }) => outcomes.push(kind));
    client.on('rejected', ({ reason }) => outcomes.push(reason));
    const seats: unknown[] = [];
    client.on('slotted', (seat) => seats.push(seat));
    const { ctx, slot } = accepted(await client.contribute(deltaOf(0), { trainedOn: 0 }));
    off();
    expect(seats).toEqual([{ ctx, slot }]);
    expect(steps).toEqual(['seat', 'deposit', 'key', 'mask', '0/248', '64/248', '128/248', '192/248', '248/248']);
    await client.contribute(deltaOf(0).subarray(1), { trainedOn: 0 });
    expect(outcomes).toEqual(['accepted', 'wrong-length']);
    expect(steps).toHaveLength(9);
  });

  it('a device that was enrolled connects again without a token', async () => {
    const services = await startServices();
    const identity = join(temporaryFolder(), 'device');
    const first = await startClient(services, { identity });
    const key = first.deviceKey;
    await first.close();
    await expect(first.model()).rejects.toThrow('connect again');
    const second = await startClient(services, { identity, token: 'no such token' });
    expect(second.deviceKey).toEqual(key);
    accepted(await second.contribute(deltaOf(1), { trainedOn: 0 }));
  });
});

describe('a certificate', () => {
  const YOUNG = { ageMs: 0, leftMs: 10 ** 9 };
  const seatOf = (services: Awaited<ReturnType<typeof startServices>>) =>
    seatRequestCodec.decode(
      services.asked.filter(({ path }) => path.endsWith('/seats')).at(-1)?.body ?? new Uint8Array(),
    ).certificate;

  it('in the last third of its life is renewed before the next seat, without a token', async () => {
    const services = await startServices(MIXED);
    services.certificates = { ageMs: 2000 * 1000, leftMs: 999 * 1000 };
    const client = await startClient(services);
    services.certificates = YOUNG;
    services.tokens.clear();
    accepted(await client.contribute(deltaOf(1), { trainedOn: 0 }));
    expect(services.count('/enrolments')).toBe(2);
    expect(seatOf(services).notAfter - services.world.now).toBeGreaterThan(999 * 1000);
    accepted(await client.contribute(deltaOf(2), { trainedOn: 0 }));
    expect(services.count('/enrolments')).toBe(2);
  });

  it('that is newer is not renewed', async () => {
    const services = await startServices();
    services.certificates = { ageMs: 1000 * 1000, leftMs: 900 * 1000 };
    const client = await startClient(services);
    accepted(await client.contribute(deltaOf(1), { trainedOn: 0 }));
    expect(services.count('/enrolments')).toBe(1);
  });

  it('that cannot be renewed yet is good until it ends', async () => {
    const services = await startServices(MIXED);
    services.certificates = { ageMs: 2000 * 1000, leftMs: 900 * 1000 };
    const client = await startClient(services);
    services.mischief = { before: ({ path }) => (path.endsWith('/enrolments') ? problem('storage-full') : undefined) };
    accepted(await client.contribute(deltaOf(1), { trainedOn: 0 }));
    services.mischief = { before: ({ path }) => (path.endsWith('/enrolments') ? 'cut' : undefined) };
    accepted(await client.contribute(deltaOf(2), { trainedOn: 0 }));
    services.mischief = {};
    services.certificates = YOUNG;
    accepted(await client.contribute(deltaOf(3), { trainedOn: 0 }));
    expect(seatOf(services).notAfter - services.world.now).toBeGreaterThan(900 * 1000);
  });

  it('that has ended is renewed when the device connects again, and a revoked device is rejected', async () => {
    const services = await startServices(MIXED);
    services.certificates = { ageMs: 10, leftMs: -1 };
    const identity = join(temporaryFolder(), 'device');
    await (await startClient(services, { identity })).close();
    services.certificates = YOUNG;
    const { token: _, ...options } = optionsFor(services, { identity });
    const client = await BasaClient.connect(options);
    accepted(await client.contribute(deltaOf(1), { trainedOn: 0 }));
    services.mischief = {
      before: ({ path }) =>
        path.endsWith('/seats')
          ? problem('certificate-expired')
          : path.endsWith('/enrolments')
            ? problem('revoked')
            : undefined,
    };
    await expect(client.contribute(deltaOf(2), { trainedOn: 0 })).resolves.toMatchObject({ reason: 'revoked' });
    await client.close();
  });
});

describe('with one version a buffer', () => {
  it('a second update on a version is refused before anything is sent, and an update on the next version is accepted', async () => {
    const services = await startServices({ bufferSize: 2 });
    const [first, second] = [await startClient(services), await startClient(services)];
    accepted(await first.contribute(deltaOf(0), { trainedOn: 0 }));
    const seats = services.count('/seats');
    expect(await first.contribute(deltaOf(7), { trainedOn: 0 })).toMatchObject({
      reason: 'version-given',
      update: 'free',
    });
    expect(services.count('/seats')).toBe(seats);
    accepted(await second.contribute(deltaOf(1), { trainedOn: 0 }));
    accepted(await first.contribute(deltaOf(8), { trainedOn: 1 }));
  });

  it('the rule outlives a restart of the device', async () => {
    const services = await startServices();
    const identity = join(temporaryFolder(), 'device');
    const first = await startClient(services, { identity });
    accepted(await first.contribute(deltaOf(0), { trainedOn: 0 }));
    await first.close();
    const again = await startClient(services, { identity });
    expect(reasonOf(await again.contribute(deltaOf(7), { trainedOn: 0 }))).toBe('version-given');
  });

  it('after its buffer was aborted, a device may give another update on the same version', async () => {
    const services = await startServices();
    const client = await startClient(services);
    accepted(await client.contribute(deltaOf(1), { trainedOn: 0 }));
    services.world.aheadMs = 245_000; // beyond closeBy, within the allowed skew
    accepted(await client.contribute(deltaOf(2), { trainedOn: 0 }));
    expect(reasonOf(await client.contribute(deltaOf(1), { trainedOn: 0 }))).toBe('version-given');
  });

  it('an update on a version that this device has never seen is refused, with advice', async () => {
    const services = await startServices();
    const client = await startClient(services);
    expect(await client.contribute(deltaOf(1), { trainedOn: 5 })).toMatchObject({
      reason: 'model-not-logged',
      detail: expect.stringContaining('fetch the newest version with model()'),
    });
  });
});

describe('updates that are not accepted', () => {
  it('an update trained on a model that is too old is refused before anything is sent', async () => {
    const services = await startServices({ bufferSize: 2, maxStaleness: 0, ...MIXED });
    const clients = [await startClient(services), await startClient(services)];
    for (const [n, client] of clients.entries()) accepted(await client.contribute(deltaOf(n), { trainedOn: 0 }));
    const deposits = services.count('/deposits');
    const stale = await clients[0]?.contribute(deltaOf(7), { trainedOn: 0 });
    expect(stale).toMatchObject({ kind: 'rejected', reason: 'too-stale', update: 'free' });
    expect(services.count('/deposits')).toBe(deposits);
    accepted(await clients[0]?.contribute(deltaOf(8), { trainedOn: 1 }));
  });

  it('an update that vanishes when it is quantised, is not finite, or of another length', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const tiny = deltaOf(1).map((value) => 1e-12 * value);
    expect(reasonOf(await client.contribute(tiny, { trainedOn: 0 }))).toBe('zero-block');
    const zero = deltaOf(1).fill(0, 10, 20);
    expect(reasonOf(await client.contribute(zero, { trainedOn: 0, blocks: [[10, 10]] }))).toBe('zero-block');
    expect(reasonOf(await client.contribute(deltaOf(1).fill(Number.NaN, 3, 4), { trainedOn: 0 }))).toBe('not-finite');
    expect(reasonOf(await client.contribute(new Float32Array(3), { trainedOn: 0 }))).toBe('wrong-length');
    expect(services.count('/deposits')).toBe(0);
  });

  it('an invalid update is an error of the caller, before any request', async () => {
    const services = await startServices();
    const client = await startClient(services);
    await expect(client.contribute(deltaOf(1), { trainedOn: 0.5 })).rejects.toThrow('trainedOn must be the version');
    await expect(client.contribute(deltaOf(1), { trainedOn: 0, exampleWeight: 0 })).rejects.toThrow('(0, 1]');
    expect(services.count('/seats')).toBe(0);
  });

  it('one update is not sent to two buffers, even if it is offered twice', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const contribution = accepted(await client.contribute(deltaOf(1), { trainedOn: 0 }));
    const again = await client.contribute(deltaOf(1), { trainedOn: 0 });
    expect(again).toMatchObject({ reason: 'delta-committed', detail: 'undecided', update: 'held' });
    expect(await client.outcome(contribution)).toBe('undecided');
    expect(services.count('/deposits')).toBe(1);
  });

  it('an update whose upload was refused may enter another buffer only after the authority said that its buffer was aborted', async () => {
    const services = await startServices(MIXED);
    const client = await startClient(services);
    services.mischief = {
      before: ({ path, method }) => (path.endsWith('/upload') && method === 'PUT' ? problem('lease-over') : undefined),
    };
    const late = await client.contribute(deltaOf(1), { trainedOn: 0 });
    expect(late).toMatchObject({ reason: 'lease-over', update: 'held' });
    services.mischief = {};
    expect(reasonOf(await client.contribute(deltaOf(1), { trainedOn: 0 }))).toBe('delta-committed');
    accepted(await client.contribute(deltaOf(2), { trainedOn: 0 }));
    services.world.aheadMs = 245_000; // beyond closeBy, within the allowed skew
    accepted(await client.contribute(deltaOf(1), { trainedOn: 0 }));
    expect(reasonOf(await client.contribute(deltaOf(1), { trainedOn: 0 }))).toBe('delta-committed');
  });
});
