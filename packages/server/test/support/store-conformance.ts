/** The requirements on every store, on any database. */
import { type Ctx, modelNameOf, type SumFact } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { examplesNote } from '../../src/store/tasks.ts';
import { batchIn, bytes, nameOf, policy, stored, task } from './store-samples.ts';

const GRANTED = { kind: 'granted', votes: [] } as const;

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

    const write = (facts: readonly SumFact[], more: object = {}) =>
      store.advance(ctx, 0, () => ({ change: { facts, status: 'frozen', ...more }, result: undefined }));
    const facts = async () => (await store.advance(ctx, 0, (all) => ({ change: undefined, result: all }))).result;

    it('returns after a restart everything that was written before', async () => {
      await store.setTaskState(task, 'finished', 'enough');
      await write([GRANTED, { kind: 'opened' }]);
      await store.setNote('head', bytes(3, 5));
      store = await reopen();
      expect(await store.tasks()).toEqual([
        { task, policy, specification: '{"a":1}', state: 'finished', why: 'enough', createdAt: 5 },
      ]);
      expect(await store.batch(ctx)).toMatchObject({ ctx, policy, version: 2 });
      expect(await facts()).toEqual([GRANTED, { kind: 'opened' }]);
      expect(await store.note('head')).toEqual(bytes(3, 5));
      expect(await store.note('tail')).toBeUndefined();
    });

    it('hands a step only the facts it does not know yet', async () => {
      expect((await write([GRANTED])).number).toBe(1);
      const { result } = await store.advance(ctx, 1, (newer) => ({ change: undefined, result: newer }));
      expect(result).toEqual([]);
      expect((await store.advance(ctx, 0, (newer) => ({ change: undefined, result: newer }))).result).toHaveLength(1);
    });

    it('writes nothing of a step that throws', async () => {
      const failing = store.advance(ctx, 0, () => {
        throw new Error('on purpose');
      });
      await expect(failing).rejects.toThrow('on purpose');
      await expect(write([{ kind: 'quarantined', why: 'x'.repeat(1000), slots: [] }])).rejects.toThrow();
      expect(await facts()).toEqual([]);
    });

    it('gives each number of a fact to one of many steps at the same time', async () => {
      const numbers = await Promise.all(
        Array.from({ length: 20 }, () =>
          store.advance(ctx, 0, (known) => ({ change: { facts: [GRANTED], status: 'granted' }, result: known.length })),
        ),
      );
      expect(numbers.map(({ result }) => result).sort((a, b) => a - b)).toEqual(numbers.map((_, n) => n));
    });

    it('lists the batches that have not ended', async () => {
      const second = await batchIn(store, 2);
      expect((await store.livingBatches()).map((one) => one.ctx)).toEqual(expect.arrayContaining([ctx, second]));
      await store.advance(second, 0, () => ({
        change: { facts: [{ kind: 'aborted' }], status: 'aborted' },
        result: 0,
      }));
      expect((await store.livingBatches()).map((one) => one.ctx)).toEqual([ctx]);
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
      await write([{ kind: 'opened' }], { status: 'opened', opened: mean });
      const spoilt = { ctx: await batchIn(store, 2) };
      const lie = { kind: 'spoilt', task, why: 'a lie' } as const;
      await store.advance(spoilt.ctx, 0, () => ({
        change: { facts: [{ kind: 'opened' }], status: 'opened', opened: lie },
        result: undefined,
      }));
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
      expect((await store.lastSums(task, 1)).length).toBe(1);
      await expect(store.addModel(nodeSuite, model, { sums: [spoilt.ctx], spoilt: [ctx] })).rejects.toThrow(
        'another version',
      );
      await store.advance(ctx, 1, () => ({
        change: { facts: [{ kind: 'included', version: 1 }], status: 'included' },
        result: 0,
      }));
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
      await store.advance(ended, 0, () => ({ change: { facts: [GRANTED], status: 'included' }, result: 0 }));
      await write([GRANTED]);
      expect(await store.forgetBatches(task, { madeBefore: 6, limit: 9 })).toBe(0);
      expect(await store.forgetBatches(task, { madeBefore: 10 ** 15, limit: 9 })).toBe(1);
      expect(await store.batch(ended)).toBeUndefined();
      expect([await store.facts(ended, 0), await store.batchShots(ended)]).toEqual([[], []]);
      expect(await facts()).toHaveLength(1);
    });

    it('removes a finished task with all its data when its batches have ended, and nothing before that', async () => {
      await store.addModel(nodeSuite, model, ofBatch());
      await store.setNote(examplesNote(task), bytes(4));
      await write([GRANTED]);
      expect(await store.removeTask(task)).toMatchObject({ isRemoved: false, openBuffers: 1 });
      await store.setTaskState(task, 'finished', 'enough');
      expect(await store.removeTask(task)).toMatchObject({ isRemoved: false, openBuffers: 1 });
      await store.advance(ctx, 1, () => ({ change: { facts: [{ kind: 'aborted' }], status: 'aborted' }, result: 0 }));
      await store.setTaskState(task, 'running');
      expect(await store.removeTask(task)).toMatchObject({ isRemoved: false, openBuffers: 0 });
      expect([await store.batch(ctx), await store.models(task)]).toMatchObject([{ ctx }, [{ version: 1 }]]);
      await store.setTaskState(task, 'finished');
      expect(await store.removeTask(task)).toMatchObject({ isRemoved: true, openBuffers: 0 });
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
      await write([{ kind: 'unknown' }], { status: 'unknown' });
      expect(await on()).toEqual({ lost: 2, left: 0 });
      expect(await store.updatesOn(task, bytes(6))).toEqual({ lost: 0, left: 0 });
    });
  });
}
