/** Statistics tasks over the real services: reports of devices become results of windows, exactly, once, and whatever the server shows. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BasaClient, defineFields, inMemoryStoreForTests, nodeOutside } from '@basa/client/node';
import { planPrivate, RING_32 } from '@basa/masking';
import { SERVER_PATH } from '@basa/protocol/http';
import type { LiveState } from '@basa/protocol/internal/http/live.ts';
import { fieldsOf, statisticsNorm, statisticsWords } from '@basa/protocol/internal/wire/statistics.ts';
import type { TaskPolicy, WindowResult } from '@basa/protocol/policy';
import type { ServerOptions } from '@basa/server';
import { asOperator, operate } from '@basa/testkit/world/operator.ts';
import { ALONE, deviceStore, type Shape, THREE_OF_FOUR, World } from '@basa/testkit/world/world.ts';
import { afterEach, describe, expect, it } from 'vitest';

const FIELDS = defineFields({
  screenMs: { low: 0, high: 1000, step: 10 },
  country: { choices: ['at', 'de'] },
});
const MINUTE = 60_000;

/** Batches of three or four. */
function statisticsPolicy(
  lines: { readonly unsafeExact?: boolean; readonly windows?: number } = {},
): Partial<TaskPolicy> {
  const { unsafeExact = false, windows = 10 } = lines;
  const fields = fieldsOf(FIELDS);
  const numbers = { bufferSize: 4, minimum: 3, dimension: statisticsWords(fields), clip: statisticsNorm(fields) };
  const noise = { noiseMultiplier: 1, colluders: 0 };
  const planned = planPrivate({ ...numbers, ...noise, isWhole: true });
  if (planned.kind === 'refused') throw new Error(planned.sentence);
  const { level, modulus } = planned.plan;
  return {
    ...numbers,
    ...(unsafeExact ? { level: 1, modulus: RING_32 } : { level, modulus }),
    maxStaleness: 1,
    statistics: { fields, windowMs: MINUTE, unsafeExact },
    privacy: unsafeExact ? undefined : { ...noise, budget: { delta: 1e-6, participations: windows } },
  };
}

const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

async function opened(
  policy: Partial<TaskPolicy>,
  shape: Shape = ALONE,
  server: Partial<ServerOptions> = {},
): Promise<World> {
  const world = await World.open({ shape, server });
  worlds.push(world);
  await world.createTask(policy);
  return world;
}

const devicesOf = (world: World, count: number): Promise<BasaClient[]> =>
  Promise.all(Array.from({ length: count }, () => world.device()));

const results = async (world: World): Promise<readonly WindowResult[]> =>
  (await json<{ windows: readonly WindowResult[] }>(world, SERVER_PATH.statistics(world.task))).windows;

async function json<Answer>(world: World, path: string): Promise<Answer> {
  const bytes = await operate(world.wire.fetch, 'GET', new URL(path, world.serverUrl));
  return JSON.parse(new TextDecoder().decode(bytes)) as Answer;
}

/** Ticks until it holds. */
async function until(world: World, holds: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 1000; turn++) {
    if (await holds()) return;
    await world.tick();
    await new Promise((resolve) => setTimeout(resolve, 5)); // the server's threads take their time
  }
  throw new Error('it never holds');
}

const counted = (world: World, devices: number) => async (): Promise<boolean> =>
  (await results(world)).reduce((sum, window) => sum + window.devices, 0) === devices;

/** The window is over, and nothing more of it is awaited. */
function pass(world: World): void {
  world.elapse(1.5 * MINUTE - (world.now % MINUTE));
}

describe.each([
  ['one authority', ALONE],
  ['3 of 4 authorities', THREE_OF_FOUR],
] as const)('with %s', (_, shape) => {
  it('exact reports become exactly their sums, in full batches and in what is left at the end of the window', async () => {
    const world = await opened(statisticsPolicy({ unsafeExact: true }), shape);
    const devices = await devicesOf(world, 7);
    for (const [n, device] of devices.entries()) {
      const report = { screenMs: 100 * n, country: n < 2 ? 'at' : 'other' } as const;
      expect(await device.report<typeof FIELDS>(report, { fields: FIELDS })).toMatchObject({ kind: 'accepted' });
    }
    await until(world, counted(world, 4));
    await world.restartServer();
    pass(world);
    await until(world, counted(world, 7));
    const [first, ...others] = await results(world);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ isOver: true, lost: 0, to: (first?.from ?? 0) + MINUTE });
    expect(first?.fields).toEqual([
      { kind: 'number', name: 'screenMs', mean: 300, error: 0 },
      {
        kind: 'histogram',
        name: 'country',
        error: 0,
        buckets: [
          { bucket: 'at', count: 2 },
          { bucket: 'de', count: 0 },
          { bucket: 'other', count: 5 },
        ],
      },
    ]);
    const address = new URL(`${SERVER_PATH.statistics(world.task)}?format=csv`, world.serverUrl);
    expect((await world.wire.fetch(address)).status).toBe(401);
    const csv = await asOperator(world.wire.fetch, 'GET', address);
    expect(csv.headers.get('content-type')).toContain('text/csv');
    expect((await csv.text()).split('\r\n').map((line) => line.split(',').slice(3).join())).toEqual([
      'devices,lost,field,bucket,value,error',
      '7,0,screenMs,,300,0',
      '7,0,country,at,2,0',
      '7,0,country,de,0,0',
      '7,0,country,other,5,0',
      '',
    ]);
    // A device of exact sums reports once in the life of the task.
    expect(await devices[0]?.report({ screenMs: 1, country: 'at' })).toMatchObject({ reason: 'budget-spent' });
  });
});

describe('a device', () => {
  it('reports once in a window, within its budget, and tells both', async () => {
    const world = await opened(statisticsPolicy({ windows: 2 }));
    const device = await world.device();
    const report = { screenMs: 5, country: 'de' };
    world.elapse(MINUTE / 2);
    expect(await device.report(report)).toMatchObject({ kind: 'accepted' });
    world.elapse(MINUTE / 4);
    expect(await device.report(report)).toEqual({
      kind: 'rejected',
      reason: 'given-lately',
      update: 'free',
      detail: 'this device has already reported in this window',
      retryAfterMs: MINUTE / 4,
    });
    world.elapse(MINUTE / 4);
    expect(await device.report(report)).toMatchObject({ kind: 'accepted' });
    expect(device.privacy).toMatchObject({ spent: { inclusions: 2, participations: 2 } });
    world.elapse(MINUTE);
    expect(await device.report(report)).toMatchObject({ kind: 'rejected', reason: 'budget-spent' });
  });

  it('reports for the window of its own clock, whatever the server shows', async () => {
    const world = await opened(statisticsPolicy());
    const ahead = await Promise.all(
      [0, 1, 2].map(() => world.device({ outside: { now: () => (world.now + MINUTE) as typeof world.now } })),
    );
    for (const device of ahead)
      expect(await device.report({ screenMs: 1, country: 'at' })).toMatchObject({ kind: 'accepted' });
    pass(world);
    pass(world);
    await until(world, counted(world, 3));
    expect((await results(world)).map(({ from }) => from)).toEqual([1_800_000_000_000 + MINUTE]);
  });

  it('is late for a window that is long over, and in time for the one that ended a moment ago', async () => {
    const world = await opened(statisticsPolicy());
    const behind = (windows: number) =>
      world.device({ outside: { now: () => (world.now - windows * MINUTE) as typeof world.now } });
    const late = await (await behind(2)).report({ screenMs: 1, country: 'at' });
    expect(late).toMatchObject({ kind: 'rejected', reason: 'version-over', update: 'given' });
    for (let n = 0; n < 3; n++)
      expect(await (await behind(1)).report({ screenMs: 1, country: 'at' })).toMatchObject({ kind: 'accepted' });
    world.elapse(MINUTE / 2);
    await until(world, counted(world, 3));
    expect((await results(world)).map(({ from }) => from)).toEqual([1_800_000_000_000 - MINUTE]);
  });

  it('of exact sums is refused by the authorities if it forgot that it reported', async () => {
    const world = await opened(statisticsPolicy({ unsafeExact: true }));
    const store = deviceStore();
    const report = { screenMs: 1, country: 'at' };
    for (const device of [await world.device({ store }), ...(await devicesOf(world, 3))]) await device.report(report);
    await until(world, counted(world, 4));
    world.elapse(MINUTE);
    const forgetful = await world.device({ store: inMemoryStoreForTests(store.signer) });
    const given = await forgetful.report(report);
    const ctx = given.kind === 'accepted' ? given.ctx : '';
    await until(world, async () => (await forgetful.fate({ ctx })) === 'refused');
  });

  it('counts once if the answer was lost, also when its application reports again', async () => {
    const world = await opened(statisticsPolicy({ unsafeExact: true }));
    const store = deviceStore();
    const device = await world.device({ store });
    world.wire.faults.push(({ method }) => (method === 'PUT' ? 'answer-lost' : undefined));
    const report = { screenMs: 1000, country: 'de' };
    await expect(device.report(report)).rejects.toMatchObject({ code: 'unreachable' });
    world.wire.faults.length = 0;
    const again = await world.device({ store });
    expect(await again.report({ screenMs: 0, country: 'at' })).toMatchObject({ kind: 'accepted' });
    for (const other of await devicesOf(world, 3)) await other.report(report);
    await until(world, counted(world, 4));
    expect((await results(world))[0]?.fields[0]).toMatchObject({ mean: 1000 });
  });

  it('sends the same requests for a value that is out of range, and tells only its application', async () => {
    const world = await opened(statisticsPolicy());
    const shapes: string[][] = [];
    const outside: (readonly string[])[] = [];
    for (const screenMs of [10, 1e9, Number.NaN]) {
      const asked: string[] = [];
      const { transport } = world.wire;
      const send: typeof transport.send = (request) => {
        asked.push(`${request.method} ${new URL(request.url).host} ${request.body?.length}`);
        return transport.send(request);
      };
      const device = await world.device({ outside: { transport: { ...transport, send } } });
      device.on('outside', ({ fields }) => outside.push(fields));
      expect(await device.report({ screenMs, country: 'at' })).toMatchObject({ kind: 'accepted' });
      shapes.push(asked);
    }
    expect(shapes[0]?.length).toBeGreaterThan(1);
    expect(shapes.slice(1)).toEqual([shapes[0], shapes[0]]);
    expect(outside).toEqual([['screenMs'], ['screenMs']]);
  });

  it('refuses what is not of its task', async () => {
    const world = await opened(statisticsPolicy());
    const device = await world.device();
    const others = { ...FIELDS, screenMs: { low: 0, high: 1000, step: 20 } };
    await expect(device.report({ screenMs: 1, country: 'at' }, { fields: others })).rejects.toThrow(
      'not those of the task',
    );
    await expect(device.report({ screenMs: 'many', country: 'at' })).rejects.toThrow(TypeError);
    await expect(device.contribute(new Float32Array(4), { trainedOn: 0 })).rejects.toThrow('call report()');
    await world.createTask();
    await expect((await world.device()).report({ screenMs: 1 })).rejects.toThrow('call run() or contribute()');
  });
});

describe('a window', () => {
  it('with fewer than Kmin reports has no result, and says so', async () => {
    const world = await opened(statisticsPolicy());
    const [one, two] = await devicesOf(world, 2);
    const given = await one?.report({ screenMs: 1, country: 'at' });
    await two?.report({ screenMs: 1, country: 'at' });
    const ctx = given?.kind === 'accepted' ? given.ctx : '';
    await world.tick();
    expect(await one?.fate({ ctx })).toBe('waiting');
    pass(world);
    await until(world, async () => (await results(world)).length > 0);
    expect(await results(world)).toMatchObject([
      { devices: 0, lost: 2, isOver: true, fields: [], why: 'no batch of at least 3 reports was opened' },
    ]);
    expect(await one?.fate({ ctx })).toBe('version-over');
  });

  it('leaves out a batch whose buckets do not add up', async () => {
    const world = await opened(statisticsPolicy({ unsafeExact: true }));
    const honest = nodeOutside();
    const liar = await world.device({
      outside: {
        mask: (vector, plan, signal) => {
          vector.set([1, 1, 1], vector.length - 7);
          return honest.mask(vector, plan, signal);
        },
      },
    });
    for (const device of [liar, ...(await devicesOf(world, 3))]) await device.report({ screenMs: 1, country: 'at' });
    await until(world, async () => (await results(world)).length > 0);
    expect(await results(world)).toMatchObject([{ devices: 0, lost: 4, fields: [] }]);
    for (const device of await devicesOf(world, 4)) await device.report({ screenMs: 0, country: 'at' });
    await until(world, counted(world, 4));
    expect(await results(world)).toMatchObject([{ devices: 4, lost: 4, fields: [{ mean: 0 }, {}] }]);
  });

  it('is in the live view and in the metrics', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'basa-live-'));
    writeFileSync(join(folder, 'index.html'), '<!doctype html><title>x</title>');
    const world = await opened(statisticsPolicy({ unsafeExact: true }), ALONE, { pages: { folder } });
    for (const device of await devicesOf(world, 4)) await device.report({ screenMs: 200, country: 'at' });
    await until(world, counted(world, 4));
    const { body } = await asOperator(fetch, 'GET', new URL(SERVER_PATH.events(world.task), world.server.url));
    let events = '';
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      events += new TextDecoder().decode(chunk);
      if (events.includes('\n\n')) break;
    }
    const state = JSON.parse(/^data: (.*)$/m.exec(events)?.[1] ?? '{}') as LiveState;
    expect(state.batches.map(({ version }) => version)).toEqual([world.now / MINUTE]);
    expect(state.windows).toMatchObject([{ devices: 4, lost: 0, fields: [{ name: 'screenMs', mean: 200 }, {}] }]);
    const text = new TextDecoder().decode(await operate(world.wire.fetch, 'GET', new URL('/metrics', world.serverUrl)));
    expect(text).toMatch(/basa_statistics_devices\{task="[^"]*"\} 4/);
    expect(text).toMatch(/basa_statistics_mean\{task="[^"]*",field="screenMs"\} 200/);
    expect(text).toMatch(/basa_statistics_bucket_devices\{task="[^"]*",field="country",bucket="at"\} 4/);
    expect(text).not.toMatch(/basa_model_version\{task="world 2/);
  });
});
