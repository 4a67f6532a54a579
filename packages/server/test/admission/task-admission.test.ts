/** Admission to a task: which devices get a place, how long places last, and when no device is on its way. */
import type { UserId } from '@basa/protocol';
import { recordGrant, recordOpened } from '@basa/protocol/internal/one-shot/sums.ts';
import { describe, expect, it } from 'vitest';
import { TaskAdmission } from '../../src/admission/task-admission.ts';
import type { AdmissionNumbers } from '../../src/specification/task-specification.ts';
import { batchIn, task, userOf } from '../support/store-samples.ts';
import { volatileStore } from '../support/volatile-store.ts';

const [ann, bob, cem] = [1, 2, 3].map(userOf) as [UserId, UserId, UserId];

/** One place, and sums of one version that need two updates. */
async function scene(change: Partial<AdmissionNumbers> = {}) {
  const now = { ms: 1_000_000 };
  const clock = () => now.ms;
  const { placeTable, store } = await volatileStore(task, clock);
  const waiting = new Map<number, number>();
  const others = { othersOn: async (_: typeof task, version: number) => waiting.get(version) ?? 0 };
  const newest = { version: -1 };
  const admission = new TaskAdmission(
    {
      ...{ task, store: others, placeTable, clock, newest: () => newest.version },
      numbers: { places: 1, minimum: 2, leastOfVersion: 2, uploadLeaseMs: 600_000, ...change },
    },
    () => 0,
  );
  return { now, waiting, admission, store, newest };
}

const later = (why: string) => ({ kind: 'later', why });

describe('a place', () => {
  it('lasts as long as devices need, from their first request to their update', async () => {
    const { admission, now } = await scene({ places: 9 });
    for (const user of [ann, bob]) await admission.ask(user);
    now.ms += 5_000;
    for (const user of [ann, bob]) await admission.ask(user);
    now.ms += 5_000;
    for (const user of [ann, bob]) admission.gave(user);
    expect(await admission.ask(cem)).toEqual({ kind: 'place', leftMs: 30_000 });
  });

  it('is free once it is given back, and the refusal of another device says why', async () => {
    const { admission } = await scene();
    await admission.ask(ann);
    expect(await admission.ask(bob)).toEqual({ ...later('every place is taken'), retryAfterMs: 500 });
    await admission.look();
    expect(admission.view).toEqual({ places: 1, used: 1, underWay: 1, waiting: 1, waitingBatches: 0 });
    await admission.discard(ann);
    expect(await admission.ask(bob)).toMatchObject({ kind: 'place' });
  });

  it('of a private task waits until enough devices asked for one within an epoch', async () => {
    const { admission, now } = await scene({ places: 9, minimum: 2, privateWithinMs: 1000 });
    const few = later('too few devices that could contribute to this version have asked for a place');
    expect(await admission.ask(ann)).toMatchObject(few);
    now.ms += 1000;
    expect(await admission.ask(bob)).toMatchObject(few);
    expect(await admission.ask(ann)).toMatchObject({ kind: 'place' });
  });
});

it('a sum that waits to be opened is backlog until its authorities do not answer or it is opened', async () => {
  const { admission, store } = await scene();
  const waiting = async () => {
    await admission.look();
    return admission.view.waitingBatches;
  };
  const [first, second] = [await batchIn(store, 1), await batchIn(store, 2)];
  await store.advance(second, (batch) => recordGrant(batch, { votes: [] }));
  expect(await waiting()).toBe(2);
  expect(await admission.ask(ann)).toMatchObject(later('batches are waiting to be opened'));
  await store.advance(second, recordOpened);
  expect(await waiting()).toBe(1);
  await store.setAside(first);
  expect(await waiting()).toBe(0);
});

describe('an older version', () => {
  it('is over for an update if too few others wait or are on their way to it', async () => {
    const free = await scene();
    const over = async ({ admission }: typeof free, user: UserId, version: number) =>
      (await admission.versionOver(user, version))?.reason;
    free.newest.version = 0;
    free.newest.version = 1;
    expect(await over(free, bob, 0)).toBeUndefined(); // devices do not ask for places
    const used = await scene();
    used.newest.version = 0;
    await used.admission.ask(ann);
    used.newest.version = 1;
    expect([await over(used, ann, 0), await over(used, bob, 0), await over(used, ann, 1)]).toEqual([
      'version-over',
      undefined,
      undefined,
    ]);
    used.waiting.set(0, 1);
    expect(await over(used, ann, 0)).toBeUndefined();
  });

  it('can have as many more updates as devices are on their way', async () => {
    const { admission, now, newest } = await scene({ places: 9 });
    newest.version = 1;
    expect(admission.coming(0)).toBeUndefined(); // devices do not ask for places
    await admission.ask(ann);
    expect(admission.coming(1)).toBeUndefined();
    newest.version = 2;
    await admission.look();
    expect([0, 1, 2].map((version) => admission.coming(version))).toEqual([0, 1, undefined]);
    now.ms += 100;
    expect([0, 1, 2].map((version) => admission.quietMs(version))).toEqual([Number.POSITIVE_INFINITY, 0, 100]);
  });
});

describe('no device is on its way', () => {
  it('since the last look that found one', async () => {
    const { admission, now, newest } = await scene({ places: 9 });
    const look = async (passedMs: number) => {
      now.ms += passedMs;
      await admission.look();
      return admission.quietMs(1);
    };
    newest.version = 1;
    await look(0);
    expect(await look(100)).toBe(0); // devices do not ask for places
    await admission.ask(ann);
    expect(admission.quietMs(1)).toBe(0);
    expect(await look(100)).toBe(0);
    await admission.discard(ann);
    expect(await look(100)).toBe(0);
    expect(await look(100)).toBe(100);
    newest.version = 2;
    expect(admission.quietMs(2)).toBe(0);
    await look(50);
    now.ms += 50;
    expect(admission.quietMs(2)).toBe(50);
    expect(admission.quietMs(3)).toBe(0);
    await admission.ask(bob);
    newest.version = 3;
    await admission.look();
    now.ms += 50;
    expect(admission.quietMs(3)).toBe(50);
  });

  it('also not, if one asked that found no place', async () => {
    const { admission, now, store, newest } = await scene();
    newest.version = 0;
    await admission.ask(ann);
    await admission.discard(ann);
    for (const n of [1, 2]) await batchIn(store, n);
    await admission.look();
    now.ms += 5_000;
    expect(await admission.ask(bob)).toMatchObject(later('batches are waiting to be opened'));
    expect(admission.quietMs(0)).toBe(5_000);
  });
});
