/** Admission to a task: which devices get a place or enter with an update, how long places last, and when no device is on its way. */
import { type Ctx, millis, openSecureBuffer, type SecureBuffer, type ShotBatch, type UserId } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import { TaskAdmission, type TaskAdmissionOptions } from '../../src/admission/task-admission.ts';
import { buffersOf, bytes, slotOf, task, userOf } from '../support/store-samples.ts';
import { volatileTickets } from '../support/volatile-tickets.ts';

const LEASE_MS = 60_000;

it('the first buffer of a task, with too many drop-outs to be summed, frees its places long before their leases end', async () => {
  let now = 0;
  const clock = () => now;
  const [bufferSize, minimum, uploaded] = [8, 6, 5];
  const options = { bufferSize, places: bufferSize, targetAge: 3, maxWaitingBuffers: 2, uploadLeaseMs: LEASE_MS };
  const { tickets } = await volatileTickets(task, clock);
  const places = new TaskAdmission({ ...options, task, tickets, clock, jitter: () => 0 });
  const { ctx, descriptor, slotKeys } = buffersOf(1, { bufferSize, minimum, uploadLeaseMs: LEASE_MS });
  const slots = Array.from({ length: bufferSize }, (_, n) => {
    const slot = slotOf(ctx, n);
    const status = n < uploaded ? ('accepted' as const) : slot.status;
    return { ...slot, status, ticket: { ...slot.ticket, deadline: millis(LEASE_MS) } };
  });
  const begun = openSecureBuffer(nodeSuite, { descriptor, slotKeys });
  const buffer: SecureBuffer = { ...begun, slots };
  for (let n = 0; n < bufferSize; n++) {
    expect(await places.ask(userOf(n))).toMatchObject({ kind: 'place' });
    await tickets.endPlace(task, userOf(n), 'used');
    places.deposited(userOf(n), ctx);
  }
  now = 500;
  for (let n = 0; n < uploaded; n++) places.uploaded(userOf(n));
  places.track(buffer);
  expect(await places.ask(userOf(bufferSize))).toMatchObject({ kind: 'later', why: 'every place is taken' });
  now = 5_001; // they deposited at 0; the others uploaded 0.5 s after that
  places.track(buffer);
  expect(await places.ask(userOf(bufferSize))).toMatchObject({ kind: 'place' });
});

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
  const seat = { bufferSize: 4, forMs: 1_000, lateMs: 0, seatsAhead: 0, freshNonce: bytes(1, 16) };
  const enter = (user: UserId, more: { readonly isAdmitted?: boolean; readonly unused?: number } = {}) =>
    admission.enter(user, { ...seat, version: 0, ...more });
  const batch = (status: ShotBatch['status'], users: readonly UserId[] = []) =>
    admission.trackBatch({ ctx: bytes(9) as Ctx, users, rules: { version: 0 }, status } as ShotBatch);
  return { now, tickets, admission, enter, batch };
}

const on = (version: number) => ({ version, versions: 'one' as const });
const later = (why: string) => ({ kind: 'later', why });
const needsBuffer = { kind: 'needs-buffer' };

describe('a device with an update', () => {
  it('enters with a place, and without one only if it was admitted or finds a buffer with other devices', async () => {
    const { admission, enter } = await scene();
    expect(await enter(ann)).toMatchObject(needsBuffer);
    expect(admission.view.underWay).toBe(1);
    expect(await enter(bob)).toMatchObject(later('every place is taken'));
    expect(await enter(bob, { isAdmitted: true })).toMatchObject(needsBuffer);
    admission.trackWaiting(0, [cem]);
    expect(await enter(bob)).toMatchObject(needsBuffer);
    admission.trackWaiting(0, []);
    expect(await enter(bob)).toMatchObject(later('every place is taken'));
  });

  it('is admitted although its last update is in no version yet, which a device that asks to train is not', async () => {
    const { admission, enter, tickets } = await scene({ places: 9 });
    admission.meetVersion({ version: 0 });
    admission.trackWaiting(0, [ann]);
    const holds = 'the last update of this device is not in a version yet, or is on the newest version';
    expect(await admission.ask(ann)).toMatchObject(later(holds));
    expect((await tickets.count(task)).waiting).toBe(0); // it does not stand in the line
    expect(await enter(ann)).toMatchObject(needsBuffer);
  });
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
      ['used', ({ admission }) => admission.gave(ann, bytes(1) as Ctx)],
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
  it('lasts half as long for each slot or place that was left unused, this last one included', async () => {
    const { admission, now } = await scene({ places: 9 });
    expect(await admission.ask(ann)).toEqual({ kind: 'place', leftMs: 75_000 });
    expect(await admission.ask(bob, 1)).toEqual({ kind: 'place', leftMs: 37_500 });
    now.ms += 75_000;
    expect(await admission.ask(ann)).toEqual({ kind: 'place', leftMs: 37_500 });
  });

  it('lasts as long as devices need, from their first request to their deposit', async () => {
    const { admission, now } = await scene({ places: 9 });
    for (const user of [ann, bob]) await admission.ask(user);
    now.ms += 5_000;
    for (const user of [ann, bob]) await admission.ask(user);
    now.ms += 5_000;
    for (const user of [ann, bob]) admission.deposited(user, bytes(1) as Ctx);
    expect(await admission.ask(cem)).toEqual({ kind: 'place', leftMs: 15_000 });
  });

  it('that its device left unused does not count for the version that its next update is trained on', async () => {
    const { admission, now } = await scene({ places: 9 });
    admission.meetVersion({ version: 0 });
    for (const user of [ann, bob]) await admission.ask(user);
    admission.meetVersion({ version: 1 });
    await admission.discard(bob, 'returned');
    now.ms += 75_000;
    const ctx = bytes(1) as Ctx;
    for (const user of [ann, bob]) {
      await admission.ask(user);
      admission.deposited(user, ctx);
      expect(admission.versionsOf(ctx, user)).toEqual({ oldest: 1, newest: 2 });
    }
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
    await admission.discard(cem, 'refused');
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

  it('can have as many more updates as devices are on their way; others can have any number', async () => {
    const { admission, now } = await scene({ places: 9 });
    admission.meetVersion({ version: 1 });
    expect(admission.coming(on(0))).toBeUndefined(); // devices do not ask for places
    await admission.ask(ann);
    expect([on(1), { version: 0, versions: 'unsafeMixed' as const }].map((rules) => admission.coming(rules))).toEqual([
      undefined,
      undefined,
    ]);
    admission.meetVersion({ version: 2 });
    await admission.look([]);
    expect([on(0), on(1), on(2)].map((rules) => admission.coming(rules))).toEqual([0, 1, undefined]);
    now.ms += 100;
    expect([on(0), on(1), on(2)].map((rules) => admission.quietMs(rules))).toEqual([Number.POSITIVE_INFINITY, 0, 100]);
  });
});

describe('no device is on its way', () => {
  it.each(['one version', 'mixed versions'])(
    'since the last look that found one, with %s per buffer',
    async (versions) => {
      const isMixed = versions === 'mixed versions';
      const { admission, now } = await scene({ places: 9, ...(isMixed && { oneVersion: undefined }) } as never);
      const rules = { version: 1, versions: isMixed ? ('unsafeMixed' as const) : ('one' as const) };
      const look = async (passedMs: number) => {
        now.ms += passedMs;
        await admission.look([]);
        return admission.quietMs(rules);
      };
      admission.meetVersion({ version: 1 });
      await look(0);
      expect(await look(100)).toBe(0); // devices do not ask for places
      await admission.ask(ann);
      expect(admission.quietMs(rules)).toBe(0);
      expect(await look(100)).toBe(0);
      await admission.discard(ann, 'used');
      expect(await look(100)).toBe(0);
      expect(await look(100)).toBe(100);
      admission.meetVersion({ version: 2 });
      expect(admission.quietMs({ ...rules, version: 2 })).toBe(isMixed ? 100 : 0);
      await look(50);
      now.ms += 50;
      expect(admission.quietMs({ ...rules, version: 2 })).toBe(isMixed ? 200 : 50);
      expect(admission.quietMs({ ...rules, version: 3 })).toBe(isMixed ? 200 : 0);
      await admission.ask(bob);
      admission.meetVersion({ version: 3 });
      await admission.look([]);
      now.ms += 50;
      expect(admission.quietMs({ ...rules, version: 3 })).toBe(isMixed ? 0 : 50);
    },
  );

  it('also not, if one asked that found no place', async () => {
    const { admission, now, batch } = await scene({ maxWaitingBuffers: 1 });
    admission.meetVersion({ version: 0 });
    await admission.ask(ann);
    await admission.discard(ann, 'used');
    batch('frozen');
    await admission.look([]);
    now.ms += 5_000;
    expect(await admission.ask(bob)).toMatchObject(later('closed buffers are waiting to be opened'));
    expect(admission.quietMs(on(0))).toBe(5_000);
  });
});
