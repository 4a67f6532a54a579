/** Places under way and the line for them: the same rules in memory and in the database that nodes share. */
import type { UserId } from '@basa/protocol';
import { describe, expect, it } from 'vitest';
import type { UnderWay } from '../../src/seats/under-way.ts';
import type { PlaceTaken, PlaceWish } from '../../src/store/place-store.ts';
import { userOf } from './store-samples.ts';

const AGES = 10 ** 9;
const LAPSED = -1;

export function testPlaces(open: () => UnderWay): void {
  const users = [1, 2, 3, 4].map(userOf) as [UserId, UserId, UserId, UserId];
  const [ann, bob, cem, dan] = users;
  const wish = (places: number, more: { leaseMs?: number; isForSeat?: boolean; turnMs?: number } = {}): PlaceWish => ({
    isForSeat: more.isForSeat ?? false,
    leaseMs: () => more.leaseMs ?? AGES,
    decide: ({ underWay, ahead }) => (underWay + ahead < places ? 'place' : { turnMs: more.turnMs ?? AGES }),
  });
  const kinds = (taken: readonly PlaceTaken[]): readonly string[] => taken.map(({ kind }) => kind);

  describe('a place', () => {
    it('is given once to a device, and to no more than there are', async () => {
      const places = open();
      expect(await places.take(ann, wish(2))).toMatchObject({ kind: 'given', underWay: 1 });
      expect(await places.take(ann, wish(1))).toMatchObject({ kind: 'given', underWay: 1 });
      expect(await places.take(bob, wish(2))).toMatchObject({ kind: 'given', underWay: 2 });
      expect(await places.take(cem, wish(2))).toEqual({ kind: 'none', lapsed: 0 });
      expect([await places.has(bob), await places.has(cem)]).toEqual([true, false]);
      expect(await places.count()).toEqual({ underWay: 2, waiting: 1 });
    });

    it('of many that ask at once is given to as many as there are', async () => {
      const places = open();
      const asked = Array.from({ length: 8 }, (_, n) => places.take(userOf(n), wish(3)));
      expect((await Promise.all(asked)).filter(({ kind }) => kind === 'given')).toHaveLength(3);
      expect(await places.count()).toEqual({ underWay: 3, waiting: 5 });
    });

    it('that was ended or has lapsed is free, and its lapse is told once', async () => {
      const places = open();
      await places.take(ann, wish(1));
      expect([await places.end(ann, 'used'), await places.end(ann, 'used')]).toEqual([true, false]);
      await places.take(bob, wish(1, { leaseMs: LAPSED }));
      expect(await places.take(cem, wish(1))).toMatchObject({ kind: 'given', lapsed: 1 });
      expect(await places.take(dan, wish(1))).toMatchObject({ kind: 'none', lapsed: 0 });
    });
  });

  describe('the line for a place', () => {
    it('is served in its order, whoever asks first and however often', async () => {
      const places = open();
      await places.take(ann, wish(1));
      for (const user of [bob, cem, dan, dan, dan]) await places.take(user, wish(1));
      await places.end(ann, 'used');
      expect(kinds([await places.take(ann, wish(1)), await places.take(dan, wish(1))])).toEqual(['none', 'none']);
      expect(kinds([await places.take(cem, wish(1)), await places.take(bob, wish(1))])).toEqual(['none', 'given']);
      await places.end(bob, 'used');
      expect(kinds([await places.take(dan, wish(1)), await places.take(cem, wish(1))])).toEqual(['none', 'given']);
    });

    it('closes up where a device does not come back, which then is the last', async () => {
      const places = open();
      await places.take(ann, wish(1));
      await places.take(bob, wish(1, { turnMs: 1 }));
      await new Promise((resolve) => setTimeout(resolve, 5));
      await places.take(cem, wish(1));
      await places.take(bob, wish(1));
      await places.end(ann, 'used');
      expect(kinds([await places.take(bob, wish(1)), await places.take(cem, wish(1))])).toEqual(['none', 'given']);
    });

    it('is left by a device that deposits without a place, and never entered without a turn', async () => {
      const places = open();
      await places.take(ann, wish(1));
      for (const user of [bob, cem]) await places.take(user, wish(1));
      await places.take(dan, wish(1, { turnMs: 0 }));
      expect((await places.count()).waiting).toBe(2);
      await places.end(bob, 'used');
      await places.end(ann, 'used');
      expect(await places.take(cem, wish(1))).toMatchObject({ kind: 'given' });
    });
  });

  describe('a place that ended unused', () => {
    const lapsing = { leaseMs: LAPSED };
    const idle = { idleSince: expect.any(Number) };

    it('was idle if its device asks to train again, once, also if there is no other place', async () => {
      const places = open();
      await places.take(ann, wish(1, lapsing));
      await places.take(bob, wish(1));
      expect(await places.take(ann, wish(1))).toMatchObject({ kind: 'none', ...idle });
      expect(await places.take(ann, wish(1))).not.toHaveProperty('idleSince');
    });

    it('was idle if it was given back', async () => {
      const places = open();
      await places.take(ann, wish(1));
      expect([await places.end(ann, 'returned'), await places.has(ann)]).toEqual([true, false]);
      expect(await places.take(bob, wish(1))).toMatchObject({ kind: 'given', lapsed: 0 });
      expect(await places.take(ann, wish(2))).toMatchObject({ kind: 'given', ...idle });
    });

    it('makes the next lease known to be that of an idle device', async () => {
      const places = open();
      const leases: boolean[] = [];
      const leaseMs = (isIdle: boolean) => {
        leases.push(isIdle);
        return LAPSED;
      };
      for (let n = 0; n < 2; n++) await places.take(ann, { ...wish(1), leaseMs });
      expect(leases).toEqual([false, true]);
    });

    it('was not idle if its device comes with its update and deposits', async () => {
      const places = open();
      await places.take(ann, wish(1, lapsing));
      expect(await places.take(ann, wish(1, { isForSeat: true }))).not.toHaveProperty('idleSince');
      await places.end(ann, 'used');
      expect(await places.take(ann, wish(1))).not.toHaveProperty('idleSince');
    });

    it('was idle if it was taken for a seat, again and again', async () => {
      const places = open();
      const forSeat = { ...lapsing, isForSeat: true };
      expect(await places.take(ann, wish(1, forSeat))).not.toHaveProperty('idleSince');
      expect(await places.take(ann, wish(1, forSeat))).toMatchObject(idle);
      await places.take(bob, wish(1, { isForSeat: true }));
      await places.end(bob, 'returned');
      expect(await places.take(bob, wish(1, { isForSeat: true }))).toMatchObject(idle);
    });

    it('for a seat that was refused is idle only if its device asks to train again', async () => {
      const places = open();
      await places.take(ann, wish(1, { isForSeat: true }));
      await places.end(ann, 'refused');
      expect(await places.take(ann, wish(1, { isForSeat: true }))).not.toHaveProperty('idleSince');
      await places.end(ann, 'refused');
      expect(await places.take(ann, wish(1))).toMatchObject(idle);
    });
  });
}
