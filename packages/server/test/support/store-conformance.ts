/** The requirements on every store, on any database. */
import type { Ctx } from '@basa/protocol';
import {
  loseBatch,
  recordGrant,
  recordIncluded,
  recordOpened,
  type ShotBatch,
} from '@basa/protocol/internal/one-shot/sums.ts';
import { modelNameOf } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { examplesNote } from '../../src/store/tasks.ts';
import { batchIn, bytes, nameOf, policy, stored, task } from './store-samples.ts';

const votes = [{ authority: 3, signature: bytes(7, 64) }];
const grant = (batch: ShotBatch) => recordGrant(batch, { votes });

export function testStore(name: string, open: () => Promise<{ store: Store; reopen(): Promise<Store> }>): void {
  describe(`the store over ${name}`, () => {
    let store: Store;
    let reopen: () => Promise<Store>;
    let ctx: Ctx;
    const parts = { version: 1, modelHash: bytes(8), blobKey: 'models/1', madeAt: 3, accepted: 3, dropped: 1 };
    const model = { ...parts, task };
    const ofBatch = () => ({ sums: [ctx], spoilt: [] });

    beforeEach(async () => {
      ({ store, reopen } = await open());
      await store.addTask({ task, policy, specification: '{"a":1}', state: 'running', createdAt: 5 });
      ctx = await batchIn(store, 1);
    });
    afterEach(() => store.close());

    const statusOf = async (of: Ctx) => (await store.batch(of))?.status;
    const end = (of: Ctx, how: 'aborted' | 'unknown' = 'unknown') => store.advance(of, (one) => loseBatch(one, how));

    it('returns after a restart everything that was written before', async () => {
      await store.setTaskState(task, 'finished', 'enough');
      await store.advance(ctx, grant);
      await store.setNote('head', bytes(3, 5));
      store = await reopen();
      expect(await store.tasks()).toEqual([
        { task, policy, specification: '{"a":1}', state: 'finished', why: 'enough', createdAt: 5 },
      ]);
      expect(await store.batch(ctx)).toMatchObject({ ctx, task, rules: { version: 2 }, status: 'granted', votes });
      expect(await store.note('head')).toEqual(bytes(3, 5));
      expect(await store.note('tail')).toBeUndefined();
    });

    it('writes nothing of a step that throws, and takes none of a batch that it does not have', async () => {
      const failing = store.advance(ctx, () => {
        throw new Error('on purpose');
      });
      await expect(failing).rejects.toThrow('on purpose');
      expect(await statusOf(ctx)).toBe('frozen');
      expect(await store.advance(bytes(99) as Ctx, grant)).toBeUndefined();
    });

    it('lets one of many take a step at the same time', async () => {
      const taken = await Promise.all(Array.from({ length: 20 }, () => store.advance(ctx, grant)));
      expect(taken.filter((step) => step?.records.length === 1)).toHaveLength(1);
    });

    it('lists the batches that have not ended', async () => {
      const second = await batchIn(store, 2);
      const open = { status: 'frozen', version: 2, updates: 2 };
      expect(await store.openBatches(task)).toEqual([ctx, second].map((one) => ({ ...open, ctx: one })));
      expect(await store.usersInVotes(task)).toHaveLength(4);
      await end(second, 'aborted');
      expect([await store.openBatches(task), await store.openBatchNames()]).toMatchObject([[{ ctx }], [ctx]]);
      await store.advance(ctx, grant);
      expect(await store.usersInVotes(task)).toEqual([]);
      await end(ctx);
      expect([await store.openBatches(task), await store.openBatchNames()]).toEqual([[], []]);
      expect(await store.lastBatches(task, 9)).toEqual([{ ...open, ctx, status: 'unknown' }]);
      await end(await batchIn(store, 3));
      expect([await store.lastBatches(task, 9), await store.lastBatches(task, 1)]).toMatchObject([[{}, {}], [{}]]);
    });

    it('keeps a model with its scores, its serial and its name', async () => {
      const made = { ...model, stepKey: 'models/1-step' };
      const kept = await store.addModel(nodeSuite, made, ofBatch());
      expect(kept).toEqual(stored(made, 0));
      await store.setEvaluation(task, 1, { accuracy: 0.5, loss: 1.25 });
      expect(await store.models(task)).toEqual([{ ...kept, accuracy: 0.5, loss: 1.25 }]);
      await store.setEvaluation(task, 1, { r2: -0.5, loss: 2 });
      expect((await store.models(task))[0]).toEqual({ ...kept, r2: -0.5, loss: 2 });
      expect([await store.models(task, 1), await store.models(task, 2)]).toMatchObject([[{ version: 1 }], []]);
      expect(await store.modelNamed(task, modelNameOf(nodeSuite, kept))).toMatchObject({ version: 1 });
      expect(await store.modelNamed(task, bytes(99))).toBeUndefined();
      await expect(store.addModel(nodeSuite, { ...model, version: 2 }, ofBatch())).rejects.toThrow(); // one version of a batch
    });

    it('gives every version a higher serial than the one before, and at least the time in seconds', async () => {
      const made = async (version: number, madeAt: number): Promise<number> => {
        const one = { ...model, version, madeAt, modelHash: bytes(version) };
        return (await store.addModel(nodeSuite, one, { sums: [], spoilt: [] })).serial;
      };
      expect([await made(0, 5000), await made(1, 5000), await made(2, 9999), await made(3, 4000)]).toEqual([
        5, 6, 9, 10,
      ]);
      // The same again keeps its serial.
      expect(await made(3, 90_000)).toBe(10);
    });

    it('keeps the opened sum until it has ended, also after a restart', async () => {
      const mean = { kind: 'mean', task, weightSum: 12.5, metrics: { loss: 0.25 } } as const;
      await store.advance(ctx, grant);
      await store.advance(ctx, recordOpened, { opened: mean });
      const spoilt = { ctx: await batchIn(store, 2) };
      const lie = { kind: 'spoilt', task, why: 'a lie' } as const;
      await store.advance(spoilt.ctx, grant);
      await store.advance(spoilt.ctx, recordOpened, { opened: lie });
      store = await reopen();
      const found = await store.openedSums(task);
      expect(found).toMatchObject([
        { ...mean, ctx },
        { ...lie, ctx: spoilt.ctx },
      ]);
      await store.addModel(nodeSuite, model, { sums: [ctx], spoilt: [spoilt.ctx] });
      expect((await store.openedSums(task)).map(({ version }) => version)).toEqual([1, 1]);
      expect(await store.sumsOf(task)).toEqual(new Map([[1, { sums: [ctx], spoilt: [spoilt.ctx] }]]));
      expect(await store.sumsOf(task, 2)).toEqual(new Map());
      expect([await store.modelOf(ctx), await store.modelOf(spoilt.ctx)]).toEqual([stored(model, 0), stored(model, 0)]);
      await expect(store.addModel(nodeSuite, model, { sums: [spoilt.ctx], spoilt: [ctx] })).rejects.toThrow(
        'another version',
      );
      await store.advance(ctx, (batch) => recordIncluded(batch, 1));
      expect(await store.batch(ctx)).toMatchObject({ status: 'included', includedIn: 1 });
      expect((await store.openedSums(task)).map((one) => one.ctx)).toEqual([spoilt.ctx]);
    });

    it('remembers how much of an upload is durable', async () => {
      const upload = nameOf(20);
      expect(await store.receivedOf(upload)).toBe(0);
      for (const received of [100, 4_000_000_000]) {
        await store.claimPiece(upload, 'attempt');
        expect(await store.settlePiece(upload, 'attempt', { received, staged: 'attempt' })).toBe(true);
      }
      store = await reopen();
      expect(await store.receivedOf(upload)).toBe(4_000_000_000);
    });

    it('removes the parameters of old versions and the records of old ended batches, a few at a time', async () => {
      const modelOf = (version: number, stepKey?: string) => ({
        task,
        version,
        modelHash: bytes(version),
        blobKey: `models/${version}`,
        madeAt: 1,
        accepted: 0,
        dropped: 0,
        ...(stepKey !== undefined && { stepKey }),
      });
      for (const version of [0, 1, 2])
        await store.addModel(nodeSuite, modelOf(version, version === 1 ? 'models/1-step' : undefined), {
          sums: [],
          spoilt: [],
        });
      const old = await store.keptModels(task, { before: 2, limit: 1 });
      expect(old.map(({ version }) => version)).toEqual([0]);
      await store.forgetModels(task, [0]);
      expect(await store.model(task, 0)).toEqual({ ...stored(modelOf(0), 0), isForgotten: true });
      expect((await store.keptModels(task, { before: 2, limit: 9 })).map(({ version }) => version)).toEqual([1]);
      expect([...(await store.modelBlobs(task))].sort()).toEqual(['models/1', 'models/1-step', 'models/2']);

      const ended = await batchIn(store, 2);
      await end(ended);
      await store.advance(ctx, grant);
      expect(await store.forgetBatches(task, { madeBefore: 6, limit: 9 })).toBe(0);
      expect(await store.forgetBatches(task, { madeBefore: 10 ** 15, limit: 9 })).toBe(1);
      expect(await store.batch(ended)).toBeUndefined();
      expect(await store.batchShots(ended)).toEqual([]);
      expect(await statusOf(ctx)).toBe('granted');
    });

    it('removes a finished task with all its data when its batches have ended, and nothing before that', async () => {
      await store.addModel(nodeSuite, model, ofBatch());
      await store.setNote(examplesNote(task), bytes(4));
      await store.advance(ctx, grant);
      expect(await store.removeTask(task)).toMatchObject({ isRemoved: false, openBatches: 1 });
      await store.setTaskState(task, 'finished', 'enough');
      expect(await store.removeTask(task)).toMatchObject({ isRemoved: false, openBatches: 1 });
      await end(ctx);
      await store.setTaskState(task, 'running');
      expect(await store.removeTask(task)).toMatchObject({ isRemoved: false, openBatches: 0 });
      expect([await store.batch(ctx), await store.models(task)]).toMatchObject([{ ctx }, [{ version: 1 }]]);
      await store.setTaskState(task, 'finished');
      expect(await store.removeTask(task)).toMatchObject({ isRemoved: true, openBatches: 0 });
      store = await reopen();
      expect([await store.tasks(), await store.models(task), await store.note(examplesNote(task))]).toEqual([
        [],
        [],
        undefined,
      ]);
      expect(await store.batch(ctx)).toBeUndefined();
      await store.addTask({ task, policy, specification: '{"a":2}', state: 'running', createdAt: 6 }); // as if it had never been
    });

    it('finds the model of a batch, and the newest one', async () => {
      expect(await store.newestModel(task)).toBeUndefined();
      await store.addModel(nodeSuite, model, ofBatch());
      expect(await store.modelOf(ctx)).toEqual(stored(model, 0));
      expect(await store.newestModel(task)).toEqual(stored(model, 0));
      expect(await store.modelOf(bytes(99) as Ctx)).toBeUndefined();
    });

    it('counts the updates on a model that are lost, and those that are left', async () => {
      const on = () => store.updatesOn(task, bytes(5));
      expect(await on()).toEqual({ lost: 0, left: 2 });
      await end(ctx);
      expect(await on()).toEqual({ lost: 2, left: 0 });
      expect(await store.updatesOn(task, bytes(6))).toEqual({ lost: 0, left: 0 });
    });
  });
}
