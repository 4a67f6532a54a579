/** Batches are made as soon as waiting has no more benefit, and hopeless uploads end. */
import type { Ctx, UserId } from '@basa/protocol';
import type { OneShotPolicy, TaskPolicy } from '@basa/protocol/policy';
import { describe, expect, it } from 'vitest';
import { Batcher, isBatchDue } from '../../src/shots/batcher.ts';
import type { ShotContext } from '../../src/shots/inspector.ts';
import { FAR, named, numberOf, shotsScene } from '../support/shots-scene.ts';
import { bytes, policy as sample, task } from '../support/store-samples.ts';

/** Other devices keep coming, until a test says otherwise. */
async function scene(oneShot: Partial<OneShotPolicy> = {}, policy: Partial<TaskPolicy> = {}) {
  const shots = await shotsScene({ oneShot, policy });
  const made: number[][] = [];
  const seen = { quietMs: 0, coming: undefined as number | undefined, newest: 0, repeated: -1, isRefused: false };
  const living: { task: Uint8Array; status: string; users: readonly UserId[] }[] = [];
  const usersInVotes = async (of: Uint8Array) =>
    living.filter((sum) => sum.status === 'frozen' && sum.task[0] === of[0]).flatMap(({ users }) => users);
  const batcher = new Batcher({
    ...shots.context,
    store: { ...shots.store, usersInVotes },
    models: {
      isRepeated: async (version: number) => seen.repeated === version,
      get newest() {
        return { version: seen.newest };
      },
    },
    coming: { quietMs: () => seen.quietMs, coming: () => seen.coming },
    batches: {
      add: async ({ uploads }: { readonly uploads: readonly Ctx[] }) => {
        if (seen.isRefused) return undefined;
        made.push(uploads.map(numberOf));
        const given = await shots.store.shotsNamed(task, uploads);
        await shots.store.decideShots(task, uploads, { from: 'good', to: 'batched' });
        const users = given.map(({ upload }) => upload.header.user);
        return living[living.push({ task, status: 'frozen', users }) - 1];
      },
    },
  } as unknown as ShotContext);
  const look = () => batcher.look(undefined as never);
  return { ...shots, seen, batcher, living, made, look };
}

describe('a batch', () => {
  it('is made of the oldest good uploads as often as there are enough of them', async () => {
    const { give, look, made, batcher } = await scene();
    for (let n = 1; n <= 9; n++) await give(n);
    await give(10, { status: 'waiting' });
    await give(11, { status: 'arriving' });
    await look();
    expect(made).toEqual([
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ]);
    expect(batcher.pending).toEqual({ arriving: 1, waiting: 1, good: 1 });
  });

  it('is tried again at the next look, if one of its uploads is gone', async () => {
    const { give, look, made, seen, batcher } = await scene();
    for (let n = 1; n <= 4; n++) await give(n);
    seen.isRefused = true;
    await look();
    expect([made, batcher.pending?.good]).toEqual([[], 4]);
    seen.isRefused = false;
    await look();
    expect(made).toEqual([[1, 2, 3, 4]]);
  });

  it.each([
    [900_000, 60_000],
    [60_000, 30_000],
  ])(
    'is made before the time to vote for one of its uploads runs out: epochs of %i ms leave %i ms',
    async (epochMs, marginMs) => {
      const { give, look, made, now } = await scene({ epochMs });
      for (const n of [1, 2]) await give(n);
      await give(3, { votes: { first: 1000 + 2 * marginMs, last: FAR } });
      now.store = 1000 + marginMs - 1;
      await give(4, { version: 1 }); // of another version
      await look();
      expect(made).toEqual([]);
      now.store++;
      await look();
      expect(made).toEqual([[1, 2, 3]]);
    },
  );

  it('takes what is left over of several versions, if the policy lets batches mix them', async () => {
    for (const [versionMinimum, expected] of [
      [undefined, []],
      [2, [[1, 2, 3, 4]]],
    ] as const) {
      const { give, look, made, seen } = await scene({ versionMinimum });
      for (const n of [1, 2]) await give(n);
      for (const n of [3, 4]) await give(n, { version: 1 });
      [seen.newest, seen.coming] = [1, 0];
      await look();
      expect(made).toEqual(expected);
    }
  });

  it('does not hurry for an upload that cannot be in it', async () => {
    const { give, look, made, now } = await scene({}, { authorities: [6, 7, 8].map((n) => bytes(n)), threshold: 2 });
    await give(1, { votes: { first: 2000, last: FAR }, authorities: [0] });
    for (const n of [2, 3, 4]) await give(n, { authorities: [0, 1, 2] });
    now.store = 1999;
    await look();
    expect(made).toEqual([]);
  });

  it('is made if no device comes and no upload is on its way, or if none came for long', async () => {
    const quiet = await scene();
    for (const n of [1, 2, 3]) await quiet.give(n);
    quiet.seen.quietMs = 1_000;
    quiet.now.store += 999;
    await quiet.look();
    expect(quiet.made).toEqual([]);
    quiet.now.store++;
    await quiet.look();
    expect(quiet.made).toEqual([[1, 2, 3]]);
    const awaited = await scene();
    for (const n of [1, 2, 3]) await awaited.give(n);
    await awaited.give(4, { status: 'arriving' });
    await awaited.give(5, { status: 'waiting' });
    awaited.seen.quietMs = 1_000;
    awaited.now.store += 4_999;
    await awaited.look();
    expect(awaited.made).toEqual([]);
    awaited.now.store++;
    await awaited.look();
    expect(awaited.made).toEqual([[1, 2, 3]]);
    const stalled = await scene();
    for (const n of [1, 2, 3]) await stalled.give(n);
    stalled.now.store += 60_000;
    await stalled.look();
    expect(stalled.made).toEqual([[1, 2, 3]]);
  });
});

describe('the authorities that would vote', () => {
  const council = { authorities: [5, 6, 7, 8].map((n) => bytes(n)), threshold: 3 };
  const privacy = { noiseMultiplier: 1, colluders: 1, budget: { delta: 1e-6, participations: 2 } };
  const authorities = [0, 1, 2, 3];

  it('are the same for all uploads of a batch', async () => {
    const { give, look, made } = await scene({ tolerated: 1 }, council);
    await give(1, { authorities, sure: [1, 2, 3] });
    await give(2, { authorities, sure: [0, 2, 3] });
    for (const n of [3, 4, 5]) await give(n, { authorities });
    await look();
    expect(made).toEqual([[1, 3, 4, 5]]);
  });

  it('are asked again for a batch that is due, if they are not known any more', async () => {
    const { give, look, made, fate, voters, inspected, now } = await scene();
    for (const n of [1, 2, 3]) await give(n);
    now.node += 60_000;
    voters.forgetOld();
    expect([await look(), await fate(1)]).toEqual([false, 'good']); // no batch is due
    await give(4);
    expect([await look(), made]).toEqual([true, []]);
    expect(await Promise.all([1, 2, 3, 4].map(fate))).toEqual(['waiting', 'waiting', 'waiting', 'good']);
    for (const n of [1, 2, 3]) await inspected(n);
    expect([await look(), made]).toEqual([false, [[1, 2, 3, 4]]]);
  });

  it('of a private task vote for one batch of a device at a time, and are asked again after each', async () => {
    const { give, look, made, fate, living, inspected } = await scene({}, { privacy });
    for (const n of [1, 2, 3, 4]) await give(n);
    await give(11, { user: 1, version: 1 });
    for (const n of [5, 6, 7]) await give(n, { version: 1 });
    expect([await look(), made.splice(0)]).toEqual([false, [[1, 2, 3, 4]]]);
    expect([await look(), await fate(11)]).toEqual([false, 'good']);
    await inspected(11); // before the votes are known
    living.splice(0, 1, { ...(living[0] as (typeof living)[number]), status: 'granted' });
    expect([await look(), await fate(11), made]).toEqual([true, 'waiting', []]);
    await inspected(11);
    expect([await look(), made]).toEqual([false, [[5, 6, 7, 11]]]);
  });

  it('of a private task vote for a batch of a former leader before the next one of its devices', async () => {
    const { give, look, made, living, inspected } = await scene({}, { privacy });
    for (const n of [1, 2, 3, 4]) await give(n);
    const users = [named(1) as UserId];
    living.push({ task: bytes(9), status: 'frozen', users: [named(2) as UserId] }, { task, status: 'frozen', users });
    await look();
    expect(made).toEqual([]);
    living.pop();
    expect(await look()).toBe(true);
    await inspected(1);
    await look();
    expect(made).toEqual([[1, 2, 3, 4]]);
  });

  it('of another task vote for several batches of a device', async () => {
    const { give, look, made, living } = await scene();
    for (const n of [1, 2, 3, 4]) await give(n);
    living.push({ task, status: 'frozen', users: [named(1) as UserId] });
    await look();
    expect(made).toEqual([[1, 2, 3, 4]]);
  });
});

describe('uploads without hope', () => {
  it('end with a version that is too old, and their bodies are removed', async () => {
    const { give, look, fate, seen, removed, batcher } = await scene();
    await give(1, { version: 0, status: 'arriving' });
    await give(2, { version: 1, status: 'waiting' });
    seen.newest = 2;
    await look();
    expect([await fate(1), await fate(2)]).toEqual(['over version-over', 'waiting']);
    expect(removed).toHaveLength(1);
    expect(batcher.pending).toEqual({ arriving: 0, waiting: 1, good: 0 });
  });

  it('end with a version that was repeated, although there are enough of them', async () => {
    const { give, look, fate, seen } = await scene();
    for (const n of [1, 2, 3]) await give(n);
    [seen.newest, seen.repeated] = [1, 0];
    await look();
    expect(await Promise.all([1, 2, 3].map(fate))).toEqual(Array(3).fill('over version-over'));
  });

  it('end with an older version that too few others can still give an update to', async () => {
    const { give, look, fate, seen } = await scene();
    await give(1, { status: 'arriving' });
    await give(2, { status: 'waiting' });
    await give(3);
    await give(4, { version: 1 });
    [seen.newest, seen.coming] = [1, 0];
    await look();
    expect([await fate(1), await fate(4)]).toEqual(['arriving', 'good']); // 3 are enough; the newest version is open
    const short = await scene();
    for (const n of [1, 2]) await short.give(n);
    [short.seen.newest, short.seen.coming] = [1, 1];
    await short.look();
    expect(await short.fate(1)).toBe('good');
    short.seen.coming = 0;
    await short.look();
    expect([await short.fate(1), await short.fate(2)]).toEqual(['over version-over', 'over version-over']);
  });

  it('end when no authority votes for them any more', async () => {
    const { give, look, fate, now, batcher } = await scene();
    await give(1, { votes: { first: 1500, last: 2000 } });
    await give(2, { version: 1 });
    now.store = 1999;
    await look();
    expect(await fate(1)).toBe('good');
    now.store = 2000;
    await look();
    expect([await fate(1), await fate(2)]).toEqual(['refused epoch-over', 'good']);
    expect(batcher.pending?.good).toBe(1);
  });
});

const busy = { quietMs: 0, idleMs: 0, stallMs: Number.POSITIVE_INFINITY, isAwaited: false };
const far = { pace: busy, leftMs: 10_000, marginMs: 100 };

it.each([
  ['at once if it is full', 4, far, true],
  ['not while others come', 3, far, false],
  ['if nobody else comes', 3, { ...far, pace: { ...busy, quietMs: 2000, idleMs: 2000 } }, true],
  ['if none came for long', 3, { ...far, pace: { ...busy, stallMs: 50, idleMs: 60 } }, true],
  ['if the time to vote runs out', 3, { ...far, leftMs: 100 }, true],
  ['of fewer than Kmin never', 2, { ...far, leftMs: 0 }, false],
] as const)('a batch is made %s', (_, uploads, scene, isDue) => {
  expect(isBatchDue(sample, uploads, scene)).toBe(isDue);
});
