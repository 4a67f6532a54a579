/** The requirements on every store, on any database. */
import type { BufferFact, Ctx, ModelEntry, Slot, UserId } from '@basa/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { examplesNote } from '../../src/store/tasks.ts';
import { buffersOf, bytes, depositOf, policy, slotOf, task } from './store-samples.ts';

function entryOf(ctx: Ctx, version: number, hash: number): ModelEntry {
  return {
    task,
    version,
    modelHash: bytes(hash),
    sums: [ctx],
    spoilt: [],
    previous: bytes(0),
    endorsements: [{ authority: 0, signature: bytes(1, 64) }],
  };
}

export function testStore(name: string, open: () => Promise<{ store: Store; reopen(): Promise<Store> }>): void {
  describe(`the store over ${name}`, () => {
    let store: Store;
    let reopen: () => Promise<Store>;
    const buffer = buffersOf(1, {});
    const { ctx } = buffer;
    const parts = { version: 1, modelHash: bytes(8), blobKey: 'models/1', madeAt: 3, accepted: 3, dropped: 1 };
    const model = { ...parts, task };
    const ofBuffer = { sums: [ctx], spoilt: [] };

    beforeEach(async () => {
      ({ store, reopen } = await open());
      await store.addTask({ task, policy, specification: '{"a":1}', state: 'running', createdAt: 5 });
      await store.addBuffer({ ...buffer, task, drawnAt: 7 });
    });
    afterEach(() => store.close());

    const write = (facts: readonly BufferFact[], more: object = {}) =>
      store.advance(ctx, 0, () => ({ change: { facts, status: 'filling', ...more }, result: undefined }));
    const facts = async () => (await store.advance(ctx, 0, (all) => ({ change: undefined, result: all }))).result;

    it('returns after a restart everything that was written before', async () => {
      await store.setTaskState(task, 'finished', 'enough');
      await write([
        { kind: 'deposited', slot: slotOf(ctx, 0) },
        { kind: 'dropped', slot: 0 as Slot },
      ]);
      await store.setNote('head', bytes(3, 5));
      store = await reopen();
      expect(await store.tasks()).toEqual([
        { task, policy, specification: '{"a":1}', state: 'finished', why: 'enough', createdAt: 5 },
      ]);
      expect(await store.buffer(ctx)).toEqual({ ...buffer, task, drawnAt: 7 });
      expect(await facts()).toEqual([
        { kind: 'deposited', slot: slotOf(ctx, 0) },
        { kind: 'dropped', slot: 0 },
      ]);
      expect(await store.note('head')).toEqual(bytes(3, 5));
      expect(await store.note('tail')).toBeUndefined();
    });

    it('hands a step only the facts it does not know yet', async () => {
      expect((await write([{ kind: 'extended', byMs: 1 }])).number).toBe(1);
      const { result } = await store.advance(ctx, 1, (newer) => ({ change: undefined, result: newer }));
      expect(result).toEqual([]);
      expect((await store.advance(ctx, 0, (newer) => ({ change: undefined, result: newer }))).result).toHaveLength(1);
    });

    it('writes nothing of a step that throws', async () => {
      const failing = store.advance(ctx, 0, () => {
        throw new Error('on purpose');
      });
      await expect(failing).rejects.toThrow('on purpose');
      await expect(write([{ kind: 'dropped', slot: 5000 as Slot }])).rejects.toThrow();
      expect(await facts()).toEqual([]);
    });

    it('writes nothing if a part of the change cannot be written', async () => {
      const deposit = depositOf(0, { outbox: [bytes(2), bytes(3)] });
      await write([{ kind: 'deposited', slot: slotOf(ctx, 0) }], { deposit });
      await expect(write([{ kind: 'extended', byMs: 3 }], { deposit })).rejects.toThrow();
      expect(await facts()).toHaveLength(1);
    });

    it('gives each slot to one of many devices that ask at the same time', async () => {
      const taken = await Promise.all(
        Array.from({ length: 20 }, () =>
          store.advance(ctx, 0, (known) => {
            const slot = known.length as Slot;
            const deposit = depositOf(slot);
            return {
              change: { facts: [{ kind: 'deposited', slot: slotOf(ctx, slot) }], status: 'filling', deposit },
              result: slot,
            };
          }),
        ),
      );
      expect(taken.map(({ result }) => result).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    });

    it('stores deposits and their seeds for later slots, in the order of slots', async () => {
      for (const slot of [0, 1]) {
        const outbox = Array.from({ length: 3 - slot }, (_, n) => bytes(10 * slot + n));
        const deposit = depositOf(slot, { bytes: bytes(100 + slot), outbox });
        await write([{ kind: 'deposited', slot: slotOf(ctx, slot) }], { deposit });
      }
      expect(await store.deposits(ctx)).toEqual([bytes(100), bytes(101)]);
      expect(await store.inbox(ctx, 0 as Slot)).toEqual([]);
      expect(await store.inbox(ctx, 1 as Slot)).toEqual([bytes(0)]);
      expect(await store.inbox(ctx, 3 as Slot)).toEqual([bytes(2), bytes(11)]);
    });

    it('lists the buffers that have not ended, oldest first', async () => {
      const second = buffersOf(2, {});
      const other = second.ctx;
      await store.addBuffer({ ...second, task, drawnAt: 6 });
      await store.addBuffer({ ...second, task, drawnAt: 6 });
      expect((await store.livingBuffers()).map(({ drawnAt }) => drawnAt)).toEqual([6, 7]);
      await store.advance(other, 0, () => ({ change: { facts: [{ kind: 'aborted' }], status: 'aborted' }, result: 0 }));
      expect((await store.livingBuffers()).map(({ drawnAt }) => drawnAt)).toEqual([7]);
    });

    it('keeps a model pending until the buffer that made it is included with its entry', async () => {
      await store.addModel({ ...model, stepKey: 'models/1-step' }, ofBuffer);
      expect((await store.model(task, 1))?.entry).toBeUndefined();
      const entry = entryOf(ctx, 1, 8);
      await write([{ kind: 'included', version: 1 }], { status: 'included', logged: entry });
      await store.setEvaluation(task, 1, { accuracy: 0.5, loss: 1.25 });
      expect(await store.models(task)).toEqual([
        { ...model, stepKey: 'models/1-step', entry, accuracy: 0.5, loss: 1.25 },
      ]);
      await store.setEvaluation(task, 1, { r2: -0.5, loss: 2 });
      expect((await store.models(task))[0]).toEqual({ ...model, stepKey: 'models/1-step', entry, r2: -0.5, loss: 2 });
      expect([await store.models(task, 1), await store.models(task, 2)]).toMatchObject([[{ version: 1 }], []]);
    });

    it('refuses an entry of another model than the stored one, and then writes nothing', async () => {
      await store.addModel(model, ofBuffer);
      const logged = entryOf(ctx, 1, 9);
      await expect(write([{ kind: 'included', version: 1 }], { status: 'included', logged })).rejects.toThrow(
        'not the stored one',
      );
      expect(await facts()).toEqual([]);
      await expect(store.addModel({ ...model, version: 2 }, ofBuffer)).rejects.toThrow(); // one version of a buffer
    });

    it('keeps the opened sum until it has ended, also after a restart', async () => {
      const mean = { kind: 'mean', task, weightSum: 12.5, versionSum: undefined, metrics: { loss: 0.25 } } as const;
      await write([{ kind: 'opened' }], { status: 'opened', opened: mean });
      const spoilt = buffersOf(2, {});
      await store.addBuffer({ ...spoilt, task, drawnAt: 8 });
      const lie = { kind: 'spoilt', task, why: 'a lie', slots: [2, 3] } as const;
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
      await store.addModel(model, { sums: [ctx], spoilt: [spoilt.ctx] });
      expect((await store.openedSums(task)).map(({ version }) => version)).toEqual([1, 1]);
      expect(await store.sumsOf(task)).toEqual(new Map([[1, { sums: [ctx], spoilt: [spoilt.ctx] }]]));
      expect(await store.sumsOf(task, 2)).toEqual(new Map());
      expect([await store.modelOf(ctx), await store.modelOf(spoilt.ctx)]).toEqual([model, model]);
      expect((await store.lastSums(task, 1)).length).toBe(1);
      await expect(store.addModel(model, { sums: [spoilt.ctx], spoilt: [ctx] })).rejects.toThrow('another version');
      await store.advance(ctx, 1, () => ({
        change: { facts: [{ kind: 'included', version: 1 }], status: 'included' },
        result: 0,
      }));
      expect((await store.openedSums(task)).map((one) => one.ctx)).toEqual([spoilt.ctx]);
    });

    it('lets the other sums of a pending model wait for another one if one of them is lost', async () => {
      const other = buffersOf(2, {});
      await store.addBuffer({ ...other, task, drawnAt: 8 });
      await store.addModel(model, { sums: [ctx, other.ctx], spoilt: [] });
      await write([{ kind: 'unknown' }], { status: 'unknown', withoutModel: true });
      expect([await store.models(task), await store.modelOf(other.ctx)]).toEqual([[], undefined]);
      await store.addModel(model, { sums: [other.ctx], spoilt: [] });
    });

    it('forgets the pending model of a lost buffer, and never a logged one', async () => {
      await store.addModel(model, ofBuffer);
      await write([{ kind: 'unknown' }], { status: 'unknown', withoutModel: true });
      expect(await store.models(task)).toEqual([]);
      await store.addModel(model, ofBuffer);
      await store.logFirstModel(entryOf(ctx, 1, 8));
      await write([{ kind: 'unknown' }], { status: 'unknown', withoutModel: true });
      expect(await store.models(task)).toHaveLength(1);
    });

    it('counts burnt slots of a user once a buffer, since a time', async () => {
      const user = bytes(77) as UserId;
      for (const at of [10, 20]) await write([{ kind: 'extended', byMs: 1 }], { burnt: { users: [user], at } });
      expect(await store.burntSince(user, 0)).toBe(1);
      expect(await store.burntSince(user, 11)).toBe(0);
      expect(await store.burntSince(bytes(78) as UserId, 0)).toBe(0);
    });

    it('forgets burnt slots from before a time', async () => {
      const user = bytes(77) as UserId;
      await write([{ kind: 'extended', byMs: 1 }], { burnt: { users: [user], at: 10 } });
      await store.forgetBurnt(10);
      expect(await store.burntSince(user, 0)).toBe(1);
      await store.forgetBurnt(11);
      expect(await store.burntSince(user, 0)).toBe(0);
    });

    it('remembers how much of an upload is durable, and of which body', async () => {
      const slot = 2 as Slot;
      expect(await store.piece(ctx, slot)).toBeUndefined();
      for (const [n, received] of [100, 4_000_000_000].entries()) {
        await store.claimPiece(ctx, slot, bytes(n + 1), 'attempt');
        expect(await store.settlePiece(ctx, slot, 'attempt', { received, staged: 'attempt' })).toBe(true);
      }
      store = await reopen();
      expect(await store.piece(ctx, slot)).toEqual({ bodyHash: bytes(2), received: 4_000_000_000 });
    });

    it('keeps only the records of a buffer that ended', async () => {
      const deposit = depositOf(0, { outbox: [bytes(2), bytes(3)] });
      await write([{ kind: 'deposited', slot: slotOf(ctx, 0) }], { deposit });
      await store.claimPiece(ctx, 0 as Slot, bytes(1), 'attempt');
      await write([{ kind: 'aborted' }], { status: 'aborted' });
      expect(await facts()).toHaveLength(2);
      expect(await store.deposits(ctx)).toEqual([]);
      expect(await store.inbox(ctx, 1 as Slot)).toEqual([]);
      expect(await store.piece(ctx, 0 as Slot)).toBeUndefined();
    });

    it('removes the parameters of old versions and the records of old ended buffers, a few at a time', async () => {
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
        await store.addModel(modelOf(version, version === 1 ? 'models/1-step' : undefined), { sums: [], spoilt: [] });
      const old = await store.keptModels(task, { before: 2, limit: 1 });
      expect(old.map(({ version }) => version)).toEqual([0]);
      await store.forgetModels(task, [0]);
      expect(await store.model(task, 0)).toEqual({ ...modelOf(0), isForgotten: true });
      expect((await store.keptModels(task, { before: 2, limit: 9 })).map(({ version }) => version)).toEqual([1]);
      expect([...(await store.modelBlobs(task))].sort()).toEqual(['models/1', 'models/1-step', 'models/2']);

      const ended = buffersOf(2, {});
      await store.addBuffer({ ...ended, task, drawnAt: 6 });
      await store.advance(ended.ctx, 0, () => ({
        change: { facts: [{ kind: 'extended', byMs: 1 }], status: 'aborted' },
        result: undefined,
      }));
      await write([{ kind: 'extended', byMs: 1 }]);
      expect(await store.forgetBuffers(task, { drawnBefore: 6, limit: 9 })).toBe(0);
      expect(await store.forgetBuffers(task, { drawnBefore: 99, limit: 9 })).toBe(1);
      expect(await store.buffer(ended.ctx)).toBeUndefined();
      expect(await store.facts(ended.ctx, 0)).toEqual([]);
      expect(await facts()).toHaveLength(1);
    });

    it('removes a finished task with all its data when its buffers have ended, and nothing before that', async () => {
      await store.addModel(model, ofBuffer);
      await store.setNote(examplesNote(task), bytes(4));
      await write([{ kind: 'deposited', slot: slotOf(ctx, 0) }], { deposit: depositOf(0, { outbox: [bytes(2)] }) });
      expect(await store.removeTask(task)).toMatchObject({ isRemoved: false, openBuffers: 1 });
      await store.setTaskState(task, 'finished', 'enough');
      expect(await store.removeTask(task)).toMatchObject({ isRemoved: false, openBuffers: 1 });
      await store.advance(ctx, 1, () => ({ change: { facts: [{ kind: 'aborted' }], status: 'aborted' }, result: 0 }));
      await store.setTaskState(task, 'running');
      expect(await store.removeTask(task)).toMatchObject({ isRemoved: false, openBuffers: 0 });
      expect([await store.buffer(ctx), await store.models(task)]).toMatchObject([{ ctx }, [{ version: 1 }]]);
      await store.setTaskState(task, 'finished');
      expect(await store.removeTask(task)).toMatchObject({ isRemoved: true, openBuffers: 0 });
      store = await reopen();
      expect([await store.tasks(), await store.models(task), await store.note(examplesNote(task))]).toEqual([
        [],
        [],
        undefined,
      ]);
      expect(await store.buffer(ctx)).toBeUndefined();
      await store.addTask({ task, policy, specification: '{"a":2}', state: 'running', createdAt: 6 }); // as if it had never been
    });

    it('finds the model of a buffer, and the newest one, logged or not', async () => {
      expect(await store.newestModel(task, 'any')).toBeUndefined();
      await store.addModel(model, ofBuffer);
      expect(await store.modelOf(ctx)).toEqual(model);
      expect(await store.newestModel(task, 'logged')).toBeUndefined();
      expect(await store.newestModel(task, 'any')).toEqual(model);
      await store.logFirstModel(entryOf(ctx, 1, 8));
      expect((await store.newestModel(task, 'logged'))?.version).toBe(1);
      expect(await store.modelOf(bytes(99) as Ctx)).toBeUndefined();
    });
  });
}
