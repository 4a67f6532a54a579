/** Places to train in and the line for them: how tickets give them, on every database. */
import type { UserId } from '@basa/protocol';
import { describe, expect, it } from 'vitest';
import type { Placed, PlaceWish } from '../../src/admission/places.ts';
import type { PlaceEnd } from '../../src/admission/tickets.ts';
import type { NodesScene } from './nodes-scene.ts';
import { task, userOf } from './store-samples.ts';

const AGES = 10 ** 9;
const LAPSED = -1;

export function testPlaces(scene: NodesScene): void {
  const open = () => ({
    take: (user: UserId, wish: PlaceWish): Promise<Placed> => scene.tickets.ask(task, user, wish),
    has: (user: UserId) => scene.tickets.hasPlace(task, user),
    end: (user: UserId, how: PlaceEnd) => scene.tickets.endPlace(task, user, how),
    count: () => scene.tickets.count(task),
  });
  const users = [1, 2, 3, 4].map(userOf) as [UserId, UserId, UserId, UserId];
  const [ann, bob, cem, dan] = users;
  const wish = (places: number, more: { leaseMs?: number; keptMs?: number; version?: number } = {}): PlaceWish => ({
    version: more.version ?? 0,
    leaseMs: () => more.leaseMs ?? AGES,
    decide: ({ underWay, ahead }) => (underWay + ahead < places ? 'place' : { keptMs: more.keptMs ?? AGES }),
  });
  const given = { leftMs: expect.any(Number) };
  const none = { leftMs: undefined };
  const kinds = (taken: readonly Placed[]): readonly string[] =>
    taken.map(({ leftMs }) => (leftMs === undefined ? 'none' : 'given'));

  describe('a place', () => {
    it('is counted by the version that its device trains on, as long as it lives', async () => {
      const places = open();
      for (const [user, version] of [
        [ann, 3],
        [bob, 3],
        [cem, 4],
      ] as const)
        await places.take(user, wish(4, { version }));
      await places.take(dan, wish(4, { version: 5, leaseMs: LAPSED }));
      await places.end(bob, 'used');
      expect(await places.count()).toMatchObject({
        underWay: 2,
        byVersion: new Map([
          [3, 1],
          [4, 1],
        ]),
      });
    });

    it('is given once to a device, and to no more than there are', async () => {
      const places = open();
      expect(await places.take(ann, wish(2))).toMatchObject({ ...given, underWay: 1 });
      expect(await places.take(ann, wish(1))).toMatchObject({ ...given, underWay: 1 });
      expect(await places.take(bob, wish(2))).toMatchObject({ ...given, underWay: 2 });
      expect(await places.take(cem, wish(2))).toMatchObject({ ...none, lapsed: 0, isIdle: false });
      expect([await places.has(bob), await places.has(cem)]).toEqual([true, false]);
      expect(await places.count()).toMatchObject({ underWay: 2, waiting: 1 });
    });

    it('is given to as many devices as there are places, if many ask at the same time', async () => {
      const places = open();
      const asked = Array.from({ length: 8 }, (_, n) => places.take(userOf(n), wish(3)));
      expect((await Promise.all(asked)).filter(({ leftMs }) => leftMs !== undefined)).toHaveLength(3);
      expect(await places.count()).toMatchObject({ underWay: 3, waiting: 5 });
    });

    it('that was ended or has lapsed is free, and its lapse is reported once', async () => {
      const places = open();
      await places.take(ann, wish(1));
      expect([await places.end(ann, 'used'), await places.end(ann, 'used')]).toEqual([true, false]);
      await places.take(bob, wish(1, { leaseMs: LAPSED }));
      expect(await places.take(cem, wish(1))).toMatchObject({ ...given, lapsed: 1 });
      expect(await places.take(dan, wish(1))).toMatchObject({ ...none, lapsed: 0 });
    });
  });

  describe('the line for a place', () => {
    it('is served in order, even if other devices ask earlier or more often', async () => {
      const places = open();
      await places.take(ann, wish(1));
      for (const user of [bob, cem, dan, dan, dan]) await places.take(user, wish(1));
      await places.end(ann, 'used');
      expect(kinds([await places.take(ann, wish(1)), await places.take(dan, wish(1))])).toEqual(['none', 'none']);
      expect(kinds([await places.take(cem, wish(1)), await places.take(bob, wish(1))])).toEqual(['none', 'given']);
      await places.end(bob, 'used');
      expect(kinds([await places.take(dan, wish(1)), await places.take(cem, wish(1))])).toEqual(['none', 'given']);
    });

    it('moves up if a device does not come back, and that device is then the last', async () => {
      const places = open();
      await places.take(ann, wish(1));
      await places.take(bob, wish(1, { keptMs: 1 }));
      await new Promise((resolve) => setTimeout(resolve, 5));
      await places.take(cem, wish(1));
      await places.take(bob, wish(1));
      await places.end(ann, 'used');
      expect(kinds([await places.take(bob, wish(1)), await places.take(cem, wish(1))])).toEqual(['none', 'given']);
    });

    it('is left by a device that gives an update without a place, and never entered by a device that could not use a place', async () => {
      const places = open();
      await places.take(ann, wish(1));
      for (const user of [bob, cem]) await places.take(user, wish(1));
      await places.take(dan, wish(1, { keptMs: 0 }));
      expect((await places.count()).waiting).toBe(2);
      await places.end(bob, 'used');
      await places.end(ann, 'used');
      expect(await places.take(cem, wish(1))).toMatchObject(given);
    });
  });

  describe('a place that ended unused', () => {
    const lapsing = { leaseMs: LAPSED };
    const idle = { isIdle: true };

    it('was idle if its device asks to train again, once, also if there is no other place', async () => {
      const places = open();
      await places.take(ann, wish(1, lapsing));
      await places.take(bob, wish(1));
      expect(await places.take(ann, wish(1))).toMatchObject({ ...none, ...idle });
      expect(await places.take(ann, wish(1))).not.toMatchObject(idle);
    });

    it('was idle if it was given back', async () => {
      const places = open();
      await places.take(ann, wish(1));
      expect([await places.end(ann, 'returned'), await places.has(ann)]).toEqual([true, false]);
      expect(await places.take(bob, wish(1))).toMatchObject({ ...given, lapsed: 0 });
      expect(await places.take(ann, wish(2))).toMatchObject({ ...given, ...idle });
    });

    it('is noted with the next lease of its idle device', async () => {
      const places = open();
      const leases: boolean[] = [];
      const leaseMs = (isIdle: boolean) => {
        leases.push(isIdle);
        return LAPSED;
      };
      for (let n = 0; n < 2; n++) await places.take(ann, { ...wish(1), leaseMs });
      expect(leases).toEqual([false, true]);
    });

    it('was not idle if its device gave an update after its end', async () => {
      const places = open();
      await places.take(ann, wish(1, lapsing));
      await places.end(ann, 'used');
      expect(await places.take(ann, wish(1))).not.toMatchObject(idle);
    });

    it('counts against its device once, and is forgotten', async () => {
      const places = open();
      const left = (since: number) => scene.store.idleSince(ann, since);
      const begun = await scene.store.now();
      await places.take(ann, wish(1, lapsing));
      expect(await left(0)).toBe(0);
      for (const lease of [{}, {}]) await places.take(ann, wish(1, lease));
      expect([await left(0), await left(begun - 1), await left(begun + AGES)]).toEqual([1, 1, 0]);
      await scene.store.forgetIdle(begun + AGES);
      expect(await left(0)).toBe(0);
    });
  });
}
