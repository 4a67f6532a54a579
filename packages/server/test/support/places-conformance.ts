/** Places to train in, as rows, on every database. */
import type { UserId } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import type { Placed, PlaceWish } from '../../src/admission/places.ts';
import type { NodesScene } from './nodes-conformance.ts';
import { nameOf, task, uploadOf, userOf } from './store-samples.ts';

const AGES = 10 ** 9;
const LAPSED = -1;

export function testPlaces(scene: NodesScene): void {
  const users = [1, 2, 3, 4].map(userOf) as [UserId, UserId, UserId, UserId];
  const [ann, bob, cem, dan] = users;
  const wish = (places: number, more: Partial<PlaceWish> = {}): PlaceWish => ({
    ...{ places, version: 0, least: 0, withinMs: AGES, leaseMs: AGES },
    ...more,
  });
  const take = (user: UserId, places: number, more?: Partial<PlaceWish>): Promise<Placed> =>
    scene.placeTable.take(task, user, wish(places, more));
  const kinds = (taken: readonly Placed[]): readonly string[] => taken.map(({ admitted }) => admitted);
  /** Its body is durable. */
  const give = async (user: UserId, version: number): Promise<void> => {
    const votes = { first: AGES, last: AGES };
    await scene.store.beginShot(task, { name: nameOf(1), upload: uploadOf(1, { user }), version, votes });
    await scene.store.acceptShot(task, nameOf(1), user);
  };

  describe('a place', () => {
    it('is counted by the version that its device trains on, as long as it lives', async () => {
      for (const [user, version] of [
        [ann, 3],
        [bob, 3],
        [cem, 4],
      ] as const)
        await take(user, 4, { version });
      await take(dan, 4, { version: 5, leaseMs: LAPSED });
      await scene.placeTable.free(task, bob);
      expect(await scene.placeTable.underWay(task)).toEqual(
        new Map([
          [3, 1],
          [4, 1],
        ]),
      );
    });

    it('is given once to a device, and to no more than there are', async () => {
      expect(await take(ann, 2)).toMatchObject({ admitted: 'place', leftMs: AGES, used: 0 });
      expect(await take(ann, 1)).toMatchObject({ admitted: 'place', used: 1 });
      expect(kinds([await take(bob, 2), await take(cem, 2)])).toEqual(['place', 'full']);
      expect([await scene.placeTable.has(task, bob), await scene.placeTable.has(task, cem)]).toEqual([true, false]);
      expect(await scene.placeTable.count(task)).toMatchObject({ used: 2, waiting: 1 });
    });

    it('of a device that asks again before it trains is one on the newest version', async () => {
      await take(ann, 1, { version: 3 });
      await take(ann, 1, { version: 4 });
      expect(await scene.placeTable.underWay(task)).toEqual(new Map([[4, 1]]));
    });

    it('is given to as many devices as there are places, if many ask at the same time', async () => {
      const asked = Array.from({ length: 8 }, (_, n) => take(userOf(n), 3));
      expect(kinds(await Promise.all(asked)).filter((kind) => kind === 'place')).toHaveLength(3);
      expect(await scene.placeTable.count(task)).toMatchObject({ used: 3, waiting: 5 });
    });

    it('that was given back or has lapsed is free', async () => {
      await take(ann, 1);
      await scene.placeTable.free(task, ann);
      expect(kinds([await take(bob, 1, { leaseMs: LAPSED }), await take(cem, 1)])).toEqual(['place', 'place']);
    });

    it('counts until its update is in a version or in none, and its device gets none before', async () => {
      await take(ann, 1, { version: 0 });
      await give(ann, 0);
      const newest = { version: 1 }; // it was made in the meantime
      expect(kinds([await take(bob, 1, newest), await take(ann, 9, newest)])).toEqual(['full', 'given']);
      expect(await scene.placeTable.count(task)).toMatchObject({ used: 1, waiting: 1 });
      expect(await scene.placeTable.underWay(task)).toEqual(new Map());
      await scene.store.decideShots(task, [nameOf(1)], { from: 'waiting', to: 'over', reason: 'version-over' });
      expect(kinds([await take(bob, 1, newest), await take(ann, 2, newest)])).toEqual(['place', 'place']);
    });

    it('counts while the batch of its update is open', async () => {
      await take(ann, 1);
      await give(ann, 0);
      await scene.store.decideShots(task, [nameOf(1)], { from: 'waiting', to: 'good' });
      await scene.store.addBatch(nodeSuite, { task, uploads: [nameOf(1)] });
      expect(await scene.placeTable.count(task)).toMatchObject({ used: 1, waiting: 0 });
    });

    it('is not given to a device that gave an update on the newest version without one', async () => {
      await give(ann, 3);
      await scene.store.decideShots(task, [nameOf(1)], { from: 'waiting', to: 'over', reason: 'version-over' });
      expect(kinds([await take(ann, 9, { version: 3 }), await take(ann, 9, { version: 4 })])).toEqual([
        'given',
        'place',
      ]);
    });

    it('of a private task is given once enough devices asked lately that may be in a sum on the version', async () => {
      const version = { version: 3, least: 2 };
      await take(ann, 9, { version: 3 });
      await give(ann, 3);
      await scene.store.decideShots(task, [nameOf(1)], { from: 'waiting', to: 'over', reason: 'version-over' });
      expect(kinds([await take(bob, 9, version), await take(cem, 9, version)])).toEqual(['few', 'place']);
      expect(kinds([await take(dan, 9, { ...version, withinMs: LAPSED })])).toEqual(['few']);
    });

    it('of a private task counts a device whose update waits for its batch', async () => {
      await take(ann, 9, { version: 3 });
      await give(ann, 3);
      expect(kinds([await take(bob, 9, { version: 3, least: 2 })])).toEqual(['place']);
    });
  });

  it('devices that have no place are forgotten after a while, and others are not', async () => {
    await take(ann, 1);
    await take(bob, 1);
    const now = await scene.store.now();
    await scene.placeTable.forget(now - AGES);
    expect(await scene.placeTable.count(task)).toMatchObject({ used: 1, waiting: 1 });
    await scene.placeTable.forget(now + AGES);
    expect(await scene.placeTable.count(task)).toMatchObject({ used: 1, waiting: 0 });
  });
}
