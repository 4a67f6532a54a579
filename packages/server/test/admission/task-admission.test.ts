/** Admission to a task: which devices get a place, how long places last, and when no device is on its way. */
import type { Ctx, ShotBatch, UserId } from '@basa/protocol';
import { describe, expect, it } from 'vitest';
import { TaskAdmission, type TaskAdmissionOptions } from '../../src/admission/task-admission.ts';
import { bytes, task, userOf } from '../support/store-samples.ts';
import { volatileTickets } from '../support/volatile-tickets.ts';

const [ann, bob, cem, dan] = [1, 2, 3, 4].map(userOf) as [UserId, UserId, UserId, UserId];

/** One place, and sums of one version that need two updates. */
async function scene(change: Partial<TaskAdmissionOptions> = {}) {
  const now = { ms: 1_000_000 };
  const clock = () => now.ms;
  const { tickets } = await volatileTickets(task, clock);
  const admission = new TaskAdmission({
    ...{ task, tickets, clock, jitter: () => 0, bufferSize: 4, places: 1, targetAge: 3, maxWaitingBuffers: 2 },
    ...{ uploadLeaseMs: 600_000, oneVersion: { minimum: 2, isHeld: true } },
    ...change,
  });
  const batch = (status: ShotBatch['status'], users: readonly UserId[] = []) =>
    admission.trackBatch({ ctx: bytes(9) as Ctx, users, rules: { version: 0 }, status } as ShotBatch);
  return { now, tickets, admission, batch };
}

const later = (why: string) => ({ kind: 'later', why });

it('a device whose last update is in no version yet gets no place, and does not stand in the line', async () => {
  const { admission, tickets } = await scene({ places: 9 });
  admission.meetVersion({ version: 0 });
  admission.trackWaiting(0, [ann]);
  const holds = 'the last update of this device is not in a version yet, or is on the newest version';
  expect(await admission.ask(ann)).toMatchObject(later(holds));
  expect((await tickets.count(task)).waiting).toBe(0);
});

describe('the line', () => {
  it('is counted at once, also when a device asks again', async () => {
    const { admission } = await scene();
    await admission.ask(ann);
    for (const [user, waiting] of [
      [bob, 1],
      [cem, 2],
      [bob, 2],
    ] as const) {
      await admission.ask(user);
      expect(admission.view).toMatchObject({ underWay: 1, waiting });
    }
  });

  it('moves sooner once places become free: returned, lapsed or used by an update', async () => {
    const frees: readonly (readonly [string, (all: Awaited<ReturnType<typeof scene>>) => unknown])[] = [
      ['returned', ({ admission }) => admission.discard(ann, 'returned')],
      ['lapsed', ({ now }) => (now.ms += 75_000)],
      ['used', ({ admission }) => admission.gave(ann)],
    ];
    for (const [how, free] of frees) {
      const all = await scene();
      await all.admission.ask(ann);
      expect(await all.admission.ask(cem)).toMatchObject({ retryAfterMs: 500 });
      await free(all);
      if (how !== 'used') await all.admission.ask(how === 'lapsed' ? cem : bob);
      expect([how, await all.admission.ask(dan)]).toMatchObject([how, { retryAfterMs: 125 }]);
    }
  });

  it('does not move sooner for a device that had no place', async () => {
    const { admission } = await scene();
    await admission.ask(ann);
    await admission.discard(bob, 'returned');
    expect(await admission.ask(cem)).toMatchObject({ retryAfterMs: 500 });
  });
});

describe('a place', () => {
  it('lasts half as long for each place that was left unused, this last one included', async () => {
    const { admission, now } = await scene({ places: 9 });
    expect(await admission.ask(ann)).toEqual({ kind: 'place', leftMs: 75_000 });
    expect(await admission.ask(bob, 1)).toEqual({ kind: 'place', leftMs: 37_500 });
    now.ms += 75_000;
    expect(await admission.ask(ann)).toEqual({ kind: 'place', leftMs: 37_500 });
  });

  it('lasts as long as devices need, from their first request to their update', async () => {
    const { admission, now } = await scene({ places: 9 });
    for (const user of [ann, bob]) await admission.ask(user);
    now.ms += 5_000;
    for (const user of [ann, bob]) await admission.ask(user);
    now.ms += 5_000;
    for (const user of [ann, bob]) admission.gave(user);
    expect(await admission.ask(cem)).toEqual({ kind: 'place', leftMs: 15_000 });
  });

  it('that a stranger does not have cannot be given back: it is not counted, and leaves nothing in memory', async () => {
    const { admission } = await scene();
    await admission.ask(ann);
    await admission.discard(bob, 'returned');
    expect(admission.view.returned).toBe(0);
  });

  it('that was given back is counted until the next version', async () => {
    const { admission } = await scene({ places: 9 });
    const returned = () => admission.view.returned;
    admission.meetVersion({ version: 1 });
    for (const user of [ann, bob, cem]) await admission.ask(user);
    await admission.discard(ann, 'returned');
    await admission.discard(bob, 'used');
    expect(returned()).toBe(1);
    admission.meetVersion({ version: 1 });
    admission.meetVersion({ version: 0 });
    expect(returned()).toBe(1);
    admission.meetVersion({ version: 2 });
    expect(returned()).toBe(0);
  });
});

describe('a sum', () => {
  it('that waits to be opened is backlog until its authorities do not answer or it is opened or over', async () => {
    const { admission, batch } = await scene();
    const view = () => [admission.view.waitingBuffers, admission.view.used];
    batch('frozen', [ann, bob]);
    expect(view()).toEqual([1, 2]);
    batch('opened', [ann, bob]);
    expect(view()).toEqual([0, 2]);
    batch('granted', [ann, bob]);
    admission.setAside({ ctx: bytes(9) as Ctx } as ShotBatch);
    expect(view()).toEqual([0, 0]);
    batch('granted', [ann, bob]);
    expect(view()).toEqual([0, 0]);
    batch('included', [ann, bob]);
    expect(view()).toEqual([0, 0]);
    batch('frozen', [ann, bob]);
    expect(view()).toEqual([1, 2]);
  });
});

describe('an older version', () => {
  it('is over for an update if too few other devices are on their way to it', async () => {
    const { admission } = await scene();
    admission.meetVersion({ version: 0 });
    const reason = async (user: UserId, version: number) => (await admission.versionOver(user, version))?.reason;
    admission.meetVersion({ version: 1 });
    expect(await reason(bob, 0)).toBeUndefined(); // devices do not ask for places
    const used = await scene();
    used.admission.meetVersion({ version: 0 });
    await used.admission.ask(ann);
    used.admission.meetVersion({ version: 1 });
    const over = async (user: UserId, version: number) => (await used.admission.versionOver(user, version))?.reason;
    expect([await over(ann, 0), await over(bob, 0), await over(ann, 1)]).toEqual([
      'version-over',
      undefined,
      undefined,
    ]);
  });

  it('can have as many more updates as devices are on their way', async () => {
    const { admission, now } = await scene({ places: 9 });
    admission.meetVersion({ version: 1 });
    expect(admission.coming(0)).toBeUndefined(); // devices do not ask for places
    await admission.ask(ann);
    expect(admission.coming(1)).toBeUndefined();
    admission.meetVersion({ version: 2 });
    await admission.look();
    expect([0, 1, 2].map((version) => admission.coming(version))).toEqual([0, 1, undefined]);
    now.ms += 100;
    expect([0, 1, 2].map((version) => admission.quietMs(version))).toEqual([Number.POSITIVE_INFINITY, 0, 100]);
  });
});

describe('no device is on its way', () => {
  it('since the last look that found one', async () => {
    const { admission, now } = await scene({ places: 9 });
    const look = async (passedMs: number) => {
      now.ms += passedMs;
      await admission.look();
      return admission.quietMs(1);
    };
    admission.meetVersion({ version: 1 });
    await look(0);
    expect(await look(100)).toBe(0); // devices do not ask for places
    await admission.ask(ann);
    expect(admission.quietMs(1)).toBe(0);
    expect(await look(100)).toBe(0);
    await admission.discard(ann, 'used');
    expect(await look(100)).toBe(0);
    expect(await look(100)).toBe(100);
    admission.meetVersion({ version: 2 });
    expect(admission.quietMs(2)).toBe(0);
    await look(50);
    now.ms += 50;
    expect(admission.quietMs(2)).toBe(50);
    expect(admission.quietMs(3)).toBe(0);
    await admission.ask(bob);
    admission.meetVersion({ version: 3 });
    await admission.look();
    now.ms += 50;
    expect(admission.quietMs(3)).toBe(50);
  });

  it('also not, if one asked that found no place', async () => {
    const { admission, now, batch } = await scene({ maxWaitingBuffers: 1 });
    admission.meetVersion({ version: 0 });
    await admission.ask(ann);
    await admission.discard(ann, 'used');
    batch('frozen');
    await admission.look();
    now.ms += 5_000;
    expect(await admission.ask(bob)).toMatchObject(later('batches are waiting to be opened'));
    expect(admission.quietMs(0)).toBe(5_000);
  });
});
