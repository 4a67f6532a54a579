/** The requirements on every store for one-shot uploads, their batches and epochs, on any database. */
import { type Ctx, type JoinTag, millis, type UserId } from '@basa/protocol';
import { loseBatch, type ShotBatch } from '@basa/protocol/internal/one-shot/sums.ts';
import { type Batch, batchCtxOf, Epoch, type ShotUpload } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { bytes, nameOf, policy, task, uploadOf } from './store-samples.ts';

const signature = bytes(3, 64);

export function testShots(name: string, open: () => Promise<{ store: Store; reopen(): Promise<Store> }>): void {
  describe(`one-shot uploads over ${name}`, () => {
    let store: Store;
    let reopen: () => Promise<Store>;
    beforeEach(async () => {
      ({ store, reopen } = await open());
      await store.addTask({ task, policy, specification: '{}', state: 'running', createdAt: 5 });
    });
    afterEach(() => store.close());

    const begin = (name: Ctx, upload: ShotUpload, votes = { first: 40, last: 50 }, version = 2) =>
      store.beginShot(task, { name, upload, version, votes });

    /** Makes this many good uploads. */
    const good = async (count: number): Promise<Batch> => {
      const names = Array.from({ length: count }, (_, n) => nameOf(n));
      for (const [n, one] of names.entries()) {
        await begin(one, uploadOf(n));
        await store.acceptShot(task, one, bytes(n) as UserId);
      }
      await store.decideShots(task, names, { from: 'waiting', to: 'good' });
      return { task, uploads: names };
    };

    it('begin once, wait once they are whole, and are the same after a restart', async () => {
      const begun = await begin(nameOf(1), uploadOf(1));
      expect(begun).toMatchObject({ kind: 'begun', shot: { status: 'arriving', upload: uploadOf(1) } });
      expect(await begin(nameOf(1), uploadOf(1))).toMatchObject({ shot: { status: 'arriving' } });
      expect(await store.acceptShot(task, nameOf(1), bytes(1) as UserId)).toMatchObject({ status: 'waiting' });
      store = await reopen();
      expect(await store.shot(task, nameOf(1))).toMatchObject({ status: 'waiting', upload: uploadOf(1) });
      expect(await store.shotsWithBodies()).toEqual([nameOf(1)]);
      expect(await begin(nameOf(1), uploadOf(1))).toMatchObject({ shot: { status: 'waiting' } });
    });

    it('are accepted together with their small bodies, whether they are new or were started before', async () => {
      const body = { key: 'uploads/1/0/a-row', bytes: bytes(4) };
      const take = (id: number) =>
        store.takeShot(
          task,
          { name: nameOf(id), upload: uploadOf(id), version: 2, votes: { first: 40, last: 50 } },
          body,
        );
      await begin(nameOf(1), uploadOf(1));
      for (const id of [1, 2, 2]) expect(await take(id)).toMatchObject({ kind: 'begun' });
      const rival = {
        name: nameOf(3),
        upload: uploadOf(2, { partsHash: bytes(9) }),
        version: 2,
        votes: { first: 40, last: 50 },
      };
      expect(await store.takeShot(task, rival, body)).toEqual({ kind: 'differs' });
      store = await reopen();
      for (const id of [1, 2]) expect(await store.shot(task, nameOf(id))).toMatchObject({ status: 'waiting' });
      expect(await store.shot(task, nameOf(3))).toBeUndefined();
    });

    it('are one for each tag, and one of a device on each model, also if that is refused', async () => {
      await begin(nameOf(1), uploadOf(1));
      const user = bytes(1) as UserId;
      expect(await begin(nameOf(2), uploadOf(1, { partsHash: bytes(9) }))).toEqual({ kind: 'differs' });
      const next = uploadOf(2, { user });
      expect(await begin(nameOf(3), next)).toEqual({ kind: 'given' });
      expect(await begin(nameOf(4), uploadOf(4, { user, model: bytes(6) }))).toMatchObject({
        kind: 'begun',
      });
      const refused = { from: 'arriving', to: 'refused', reason: 'body-mismatch' } as const;
      await store.decideShots(task, [nameOf(1)], refused);
      expect(await store.shot(task, nameOf(1))).toMatchObject({ status: 'refused', reason: 'body-mismatch' });
      expect(await begin(nameOf(3), next)).toEqual({ kind: 'given' });
    });

    it('have the hash of a body that lies elsewhere, once it is whole', async () => {
      await begin(nameOf(1), uploadOf(1));
      await store.acceptShot(task, nameOf(1), bytes(1) as UserId, bytes(9));
      store = await reopen();
      expect(await store.shot(task, nameOf(1))).toMatchObject({ bodyHash: bytes(9) });
    });

    it('have one body, whose checksum the record names', async () => {
      await begin(nameOf(1), uploadOf(1));
      expect(await begin(nameOf(1), { ...uploadOf(1), bodyCrc: 8 })).toEqual({ kind: 'differs' });
    });

    it('are counted by version while they are in no batch', async () => {
      await good(2);
      await begin(nameOf(7), uploadOf(7));
      expect(await store.shotGroups(task)).toMatchObject([{ version: 2, arriving: 1, waiting: 0, good: 2 }]);
    });

    it('are decided only if they still have the expected status', async () => {
      await good(1);
      await store.decideShots(task, [nameOf(0)], { from: 'waiting', to: 'over', reason: 'version-over' });
      expect(await store.shot(task, nameOf(0))).toMatchObject({ status: 'good', reason: undefined });
    });

    it('are in one batch, all of them and in order, or in no batch', async () => {
      const batch = await good(3);
      const ctx = batchCtxOf(nodeSuite, batch);
      expect(await store.addBatch(nodeSuite, batch)).toMatchObject({ ctx });
      const users = [0, 1, 2].map((n) => bytes(n));
      expect(await store.batch(ctx)).toMatchObject({
        ctx,
        task,
        batch,
        status: 'frozen',
        users,
        rules: { version: 2 },
      });
      expect((await store.batchShots(ctx)).map((shot) => shot.name)).toEqual(batch.uploads);
      const other = { ...batch, uploads: [nameOf(0), nameOf(7)] };
      expect(await store.addBatch(nodeSuite, other)).toBeUndefined();
      expect(await store.batch(batchCtxOf(nodeSuite, other))).toBeUndefined();
      expect(await store.addBatch(nodeSuite, batch)).toMatchObject({ ctx });
    });

    it('are in one batch with all of its hundreds', async () => {
      const names = Array.from({ length: 300 }, (_, n) => new Uint8Array([...bytes(1).subarray(2), n >> 8, n & 255]));
      const give = async (one: Uint8Array): Promise<void> => {
        await begin(one as Ctx, uploadOf(0, { user: one as UserId, joinTag: one.slice(16) as JoinTag }));
        await store.acceptShot(task, one as Ctx, one as UserId);
      };
      await Promise.all(names.map(give));
      await store.decideShots(task, names as Ctx[], { from: 'waiting', to: 'good' });
      const batch = { task, uploads: names as Ctx[] };
      expect((await store.addBatch(nodeSuite, batch))?.batch).toEqual(batch);
    });

    it('are counted by the model that they are on, without those in batches', async () => {
      await good(2);
      await begin(nameOf(5), uploadOf(5), { first: 20, last: 30 });
      await begin(nameOf(6), uploadOf(6, { model: bytes(9) }), undefined, 1);
      const counts = { arriving: 0, waiting: 0, good: 0 };
      const never = Number.POSITIVE_INFINITY;
      expect(await store.shotGroups(task)).toMatchObject([
        { ...counts, version: 1, model: bytes(9), arriving: 1, votesFirst: never, votesLast: 50 },
        { ...counts, version: 2, model: bytes(5), arriving: 1, good: 2, votesFirst: 40, votesLast: 30 },
      ]);
      expect((await store.shotsOn(task, bytes(5), 9)).map(({ name: one }) => one).sort()).toHaveLength(3);
      expect((await store.goodShots(task, bytes(5), 9)).map(({ status }) => status)).toEqual(['good', 'good']);
      expect((await store.shotsPastVotes(task, 30, 9)).map(({ name: one }) => one)).toEqual([nameOf(5)]);
      const others = async (user: number) => store.othersOn(task, 2, bytes(user) as UserId);
      expect([await others(0), await others(9)]).toEqual([2, 3]);
      await store.addBatch(nodeSuite, { task, uploads: [nameOf(0), nameOf(1)] });
      expect(await store.shotGroups(task)).toMatchObject([{ version: 1 }, { version: 2, good: 0, arriving: 1 }]);
      expect(await others(9)).toBe(1);
    });

    it('are listed by name, the oldest first, from any of them on', async () => {
      for (const id of [3, 1, 2]) {
        await begin(nameOf(id), uploadOf(id));
        await store.acceptShot(task, nameOf(id), bytes(id) as UserId);
      }
      const all = await store.namesOf(task, 'waiting', undefined, 9);
      expect(all).toHaveLength(3);
      expect([...all].sort((a, b) => a.at - b.at)).toEqual(all);
      expect(await store.namesOf(task, 'waiting', undefined, 2)).toEqual(all.slice(0, 2));
      expect(await store.namesOf(task, 'waiting', all[1], 9)).toEqual(all.slice(2));
      const [first] = all.map(({ name: one }) => one) as [Ctx];
      expect((await store.shotsNamed(task, [first, nameOf(8)])).map(({ name: one }) => one)).toEqual([first]);
    });

    it('wait again if their batch is dissolved, except for refused uploads', async () => {
      const batch = await good(2);
      const { ctx } = (await store.addBatch(nodeSuite, batch)) as ShotBatch;
      const freed = [{ name: nameOf(1), reason: 'revoked' as const }];
      await store.advance(ctx, (one) => loseBatch(one, 'aborted'), { freed });
      expect(await store.shot(task, nameOf(0))).toMatchObject({ status: 'waiting', ctx: undefined });
      expect(await store.shot(task, nameOf(1))).toMatchObject({ status: 'refused', reason: 'revoked', ctx: undefined });
      expect(await store.openBatches(task)).toEqual([]);
    });

    it('need their bodies until their batch has ended', async () => {
      const { ctx } = (await store.addBatch(nodeSuite, await good(2))) as ShotBatch;
      expect(await store.wholeShots()).toHaveLength(2);
      await store.advance(ctx, (one) => loseBatch(one, 'unknown'));
      expect(await store.shotsWithBodies()).toEqual([]);
      expect(await store.shot(task, nameOf(0))).toMatchObject({ status: 'batched', ctx });
    });

    it('are removed when old data is forgotten, and with their task', async () => {
      await good(1);
      await store.decideShots(task, [nameOf(0)], { from: 'good', to: 'over', reason: 'version-over' });
      await store.forgetShots(task, 0);
      expect(await store.shotNames(task)).toEqual([nameOf(0)]);
      await store.forgetShots(task, Number.MAX_SAFE_INTEGER);
      expect(await store.shotNames(task)).toEqual([]);
      await begin(nameOf(1), uploadOf(1));
      await store.setTaskState(task, 'finished');
      expect(await store.removeTask(task)).toMatchObject({ isRemoved: true, openBatches: 0 });
      expect(await store.shotNames(task)).toEqual([]);
    });

    it('name epochs that are stored until they are no longer needed', async () => {
      const keys = { key: bytes(4), kemKey: new Uint8Array(1184).fill(1) };
      const body = { task, authority: 0, ...keys, opens: millis(1), closes: millis(2) };
      const epoch: Epoch = { ...body, signature };
      const statement = Epoch.statementHash(nodeSuite, epoch);
      await store.addEpoch(statement, epoch, 50);
      await store.addEpoch(statement, epoch, 50);
      store = await reopen();
      expect(await store.epochs(task)).toEqual([epoch]);
      await store.forgetEpochs(task, 50);
      expect(await store.epochs(task)).toEqual([epoch]);
      await store.forgetEpochs(task, 51);
      expect(await store.epochs(task)).toEqual([]);
    });
  });
}
