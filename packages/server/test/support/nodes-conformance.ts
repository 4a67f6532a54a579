/** What several nodes on one store count on: leases and their fences, seats, pieces of uploads, and when one was alive. */
import type { Ctx, Slot, UserId } from '@basa/protocol';
import { millis } from '@basa/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LeaseLost } from '../../src/store/node-store.ts';
import { TooManySlots } from '../../src/store/slot-store.ts';
import type { Store } from '../../src/store/store.ts';
import { buffersOf, bytes, depositOf, headerOf, slotOf, task, userOf } from './store-samples.ts';

const AGES = 10 ** 12;

export function testNodes(name: string, open: () => Promise<{ readonly store: Store }>): void {
  describe(`nodes on a store over ${name}`, () => {
    let store: Store;
    let ctx: Ctx;
    const drawn = async (id: number): Promise<Ctx> => {
      const made = buffersOf(id, { expiry: millis(AGES * 10) });
      await store.addBuffer({ ...made, task, drawnAt: id });
      return made.ctx;
    };
    beforeEach(async () => {
      ({ store } = await open());
      await store.addTask({ task, specification: '{}', state: 'running', createdAt: 5 });
      ctx = await drawn(1);
    });

    afterEach(() => store.close());

    describe('a place', () => {
      const [ann, bob, cem] = [1, 2, 3].map(userOf) as [UserId, UserId, UserId];
      const fewerThan = (limit: number) => (underWay: number) => underWay < limit;

      it('is given once to a device, and to no more than there are', async () => {
        expect(await store.takePlace(task, ann, AGES, fewerThan(2))).toMatchObject({ kind: 'given', underWay: 1 });
        expect(await store.takePlace(task, ann, AGES, fewerThan(1))).toMatchObject({ kind: 'given', underWay: 1 });
        expect(await store.takePlace(task, bob, AGES, fewerThan(2))).toMatchObject({ kind: 'given', underWay: 2 });
        expect(await store.takePlace(task, cem, AGES, fewerThan(2))).toEqual({ kind: 'none', lapsed: 0 });
        expect([await store.hasPlace(task, bob), await store.hasPlace(task, cem)]).toEqual([true, false]);
      });

      it('of many that ask at once is given to as many as there are', async () => {
        const asked = Array.from({ length: 8 }, (_, n) => store.takePlace(task, userOf(n), AGES, fewerThan(3)));
        expect((await Promise.all(asked)).filter(({ kind }) => kind === 'given')).toHaveLength(3);
        expect(await store.countPlaces(task)).toBe(3);
      });

      it('that was ended or has lapsed is free', async () => {
        await store.takePlace(task, ann, AGES, fewerThan(1));
        expect([await store.endPlace(task, ann), await store.endPlace(task, ann)]).toEqual([true, false]);
        await store.takePlace(task, bob, -1, fewerThan(1));
        expect(await store.countPlaces(task)).toBe(0);
        expect(await store.takePlace(task, cem, AGES, fewerThan(1))).toMatchObject({ kind: 'given', lapsed: 1 });
      });
    });

    describe('a lease on the buffers of a task', () => {
      it('is one holder’s at a time, and renewed by it', async () => {
        expect(await store.takeLease('close', 'a', AGES)).toBe(1);
        expect(await store.takeLease('close', 'b', AGES)).toBeUndefined();
        expect(await store.takeLease('close', 'a', AGES)).toBe(1);
        expect(await store.takeLease('another', 'b', AGES)).toBe(1);
      });

      it('of many that ask at once is given to one', async () => {
        const asked = Array.from({ length: 8 }, (_, n) => store.takeLease('close', String(n), AGES));
        expect((await Promise.all(asked)).filter((fence) => fence !== undefined)).toEqual([1]);
      });

      it('that ended goes to another with a higher fence, and what is written under the old one is refused', async () => {
        expect(await store.takeLease('close', 'a', -1)).toBe(1);
        const old = { name: 'close', number: 1 };
        const write = () =>
          store.advance(
            ctx,
            0,
            (known) => ({
              change: { facts: [{ kind: 'extended', byMs: 1 }], status: 'filling' },
              result: known.length,
            }),
            old,
          );
        await write(); // nobody has taken it
        expect(await store.takeLease('close', 'b', AGES)).toBe(2);
        await expect(write()).rejects.toThrow(LeaseLost);
        const model = { task, version: 1, modelHash: bytes(8), ctx, blobKey: 'm', madeAt: 3, accepted: 3, dropped: 1 };
        await expect(store.addModel(model, old)).rejects.toThrow(LeaseLost);
        await expect(store.forgetModels(task, [0], old)).rejects.toThrow(LeaseLost);
        await expect(store.forgetBuffers(task, { drawnBefore: AGES, most: 1 }, old)).rejects.toThrow(LeaseLost);
        expect(await store.facts(ctx, 0)).toHaveLength(1);
        expect(await store.models(task)).toEqual([]);
        await store.addModel(model, { name: 'close', number: 2 });
        expect(await store.takeLease('close', 'a', AGES)).toBeUndefined();
      });

      it('is renewed while nobody else has it, also after it ended', async () => {
        await store.takeLease('close', 'a', -1);
        await store.renewLease({ name: 'close', number: 1 }, AGES);
        expect(await store.takeLease('close', 'b', AGES)).toBeUndefined();
        await store.giveLeaseBack('close', 'a');
        expect(await store.takeLease('close', 'b', -1)).toBe(2);
        await store.renewLease({ name: 'close', number: 1 }, AGES);
        expect(await store.takeLease('close', 'c', AGES)).toBe(3);
      });

      it('that was given back is free at once', async () => {
        await store.takeLease('close', 'a', AGES);
        await store.giveLeaseBack('close', 'b');
        expect(await store.takeLease('close', 'b', AGES)).toBeUndefined();
        await store.giveLeaseBack('close', 'a');
        expect(await store.takeLease('close', 'b', AGES)).toBe(2);
      });
    });

    describe('seats', () => {
      const ask = (n: number, more: object = {}) =>
        store.takeSeat(task, userOf(n), { forMs: AGES, lateMs: 0, freshNonce: bytes(n, 16), ...more });
      const deposit = (n: number) =>
        store.advance(ctx, 0, (known) => {
          const slot = known.length as Slot;
          const filed = depositOf(slot, { user: userOf(n) });
          const fact = { kind: 'deposited' as const, slot: { ...slotOf(ctx, slot), user: userOf(n) } };
          return { change: { facts: [fact], status: 'filling' as const, deposit: filed }, result: slot };
        });

      it('of a buffer are given once, however many ask at once; then everybody draws with one nonce', async () => {
        const given = await Promise.all(Array.from({ length: 9 }, (_, n) => ask(n)));
        const seated = given.filter(({ kind }) => kind === 'seated');
        expect(seated).toHaveLength(4);
        const nonces = given.flatMap((seat) => (seat.kind === 'needs-buffer' ? [String(seat.nonce)] : []));
        expect(nonces).toHaveLength(5);
        expect(new Set(nonces).size).toBe(1);
      });

      it('become deposits without one more or less', async () => {
        for (const n of [0, 1, 2]) await ask(n);
        await Promise.all([0, 1].map(deposit));
        expect(await ask(3)).toMatchObject({ kind: 'seated', deposits: 2, seats: 2 });
        expect(await ask(4)).toMatchObject({ kind: 'needs-buffer' });
        expect(await ask(2)).toMatchObject({ kind: 'seated', ctx }); // the one it has
        expect(await ask(0)).toMatchObject({ kind: 'needs-buffer' }); // not twice in one buffer
      });

      it('are given in the next buffer, whose nonce is used up', async () => {
        for (const n of [0, 1, 2, 3]) await ask(n);
        const full = await ask(4);
        if (full.kind !== 'needs-buffer') throw new Error('a fifth seat of four');
        const next = buffersOf(2, { expiry: millis(AGES * 10) });
        await store.addBuffer({ ...next, task, drawnAt: 9 }, full.nonce);
        expect(await ask(4)).toMatchObject({ kind: 'seated', ctx: next.ctx });
        for (const n of [5, 6, 7]) await ask(n);
        const again = await ask(8);
        expect(again).toEqual({ kind: 'needs-buffer', nonce: bytes(8, 16) });
        await store.forgetDraw(task, bytes(7, 16)); // not this one
        expect(await ask(9)).toEqual(again);
        await store.forgetDraw(task, bytes(8, 16));
        expect(await ask(9)).toEqual({ kind: 'needs-buffer', nonce: bytes(9, 16) });
      });

      it('lapse, and go to another', async () => {
        for (const n of [0, 1, 2]) await ask(n);
        await ask(3, { forMs: -1 });
        expect(await ask(4)).toMatchObject({ kind: 'seated', seats: 4 });
        await store.forgetSeats();
        expect(await ask(3)).toMatchObject({ kind: 'needs-buffer' });
        expect(await ask(0)).toMatchObject({ kind: 'seated' });
      });

      it('are asked for in one buffer only, also while the task is paused', async () => {
        const other = await drawn(2);
        await store.setTaskState(task, 'paused');
        expect(await ask(0)).toEqual({ kind: 'not-running' });
        expect(await ask(0, { only: other })).toMatchObject({ kind: 'seated', ctx: other });
        await store.advance(other, 0, () => ({
          change: { facts: [{ kind: 'aborted' }], status: 'aborted' },
          result: 0,
        }));
        expect(await ask(0, { only: other })).toMatchObject({ kind: 'needs-buffer' });
      });
    });

    it('an inbox holds what every slot before it sealed, however many deposit at once', async () => {
      const wide = buffersOf(3, { expiry: millis(AGES * 10), bufferSize: 12 });
      await store.addBuffer({ ...wide, task, drawnAt: 9 });
      const counts = await Promise.all(
        Array.from({ length: 12 }, async (_, n) => {
          const { result: slot } = await store.advance(wide.ctx, 0, (known) => {
            const mine = known.length as Slot;
            const outbox = Array.from({ length: 11 - mine }, (__, to) => bytes(mine, 8 + to));
            const filed = depositOf(mine, { user: userOf(n), outbox });
            const fact = { kind: 'deposited' as const, slot: slotOf(wide.ctx, mine) };
            return { change: { facts: [fact], status: 'filling' as const, deposit: filed }, result: mine };
          });
          return (await store.inbox(wide.ctx, slot)).length - slot;
        }),
      );
      expect(counts).toEqual(counts.map(() => 0));
    });

    describe('slots that a device has not finished', () => {
      const user = userOf(5);
      const begin = (at: Ctx, slot: number, more: object = {}) => {
        const fact = { kind: 'deposited' as const, slot: slotOf(at, slot) };
        const deposit = depositOf(slot, { user, ...more });
        return store.advance(at, 0, () => ({ change: { facts: [fact], status: 'filling', deposit }, result: 0 }));
      };

      it('are two at most, however many buffers it deposits in at once', async () => {
        const buffers = await Promise.all([2, 3, 4, 5, 6, 7, 8, 9].map(drawn));
        const begun = await Promise.allSettled(buffers.map((at) => begin(at, 0)));
        const refused = begun.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
        expect(refused).toHaveLength(6);
        expect(refused.every((reason) => reason instanceof TooManySlots)).toBe(true);
        expect(await store.unfinishedSlots(task, user)).toMatchObject({ slots: 2 });
        const lengths = await Promise.all(buffers.map(async (at) => (await store.facts(at, 0)).length));
        expect(lengths.reduce((sum, each) => sum + each, 0)).toBe(2);
      });

      it('are counted for each device and each task', async () => {
        const [a, b] = [await drawn(2), await drawn(3)];
        for (const at of [a, b]) await begin(at, 0);
        await begin(ctx, 0, { user: userOf(6) });
        await expect(begin(ctx, 1)).rejects.toThrow(TooManySlots);
        await begin(ctx, 2, { task: bytes(99) });
        expect(await store.unfinishedSlots(task, userOf(6))).toMatchObject({ slots: 1 });
        expect(await store.unfinishedSlots(task, userOf(7))).toEqual({ slots: 0, freeInMs: 0 });
      });

      it('count until the upload is accepted, or the lease is over, however the buffer ends', async () => {
        const [a, b] = [await drawn(2), await drawn(3)];
        const now = await store.now();
        await begin(a, 0, { until: now + 60_000 });
        await begin(b, 0, { until: now + 3_600_000 });
        const { slots, freeInMs } = await store.unfinishedSlots(task, user);
        expect(slots).toBe(2);
        expect(freeInMs).toBeGreaterThan(0);
        expect(freeInMs).toBeLessThanOrEqual(60_001);
        await store.advance(a, 1, () => ({ change: { facts: [{ kind: 'aborted' }], status: 'aborted' }, result: 0 }));
        await expect(begin(ctx, 0)).rejects.toThrow(TooManySlots);
        const accepted = { kind: 'accepted' as const, header: headerOf(b, 0) };
        await store.advance(b, 1, () => ({ change: { facts: [accepted], status: 'filling' }, result: 0 }));
        expect(await store.unfinishedSlots(task, user)).toMatchObject({ slots: 1 });
        await begin(ctx, 0, { until: now - 60_000 });
        expect(await store.unfinishedSlots(task, user)).toMatchObject({ slots: 1 });
        await store.forgetLapsedSlots();
        await begin(await drawn(4), 0);
        expect(await store.unfinishedSlots(task, user)).toMatchObject({ slots: 2 });
      });

      it('count longer by the time that no node was alive', async () => {
        await begin(ctx, 0, { until: (await store.now()) - 30_000 });
        expect(await store.unfinishedSlots(task, user)).toMatchObject({ slots: 0 });
        await store.noteAlive(0);
        const long = new Uint8Array(8);
        new DataView(long.buffer).setBigUint64(0, BigInt((await store.now()) - 60_000));
        await store.setNote('alive-at', long);
        await store.noteAlive(30_000);
        expect(await store.unfinishedSlots(task, user)).toMatchObject({ slots: 1 });
      });
    });

    it('of two attempts to append a piece, the newer one counts', async () => {
      const slot = 1 as Slot;
      const [body, other] = [bytes(1), bytes(2)];
      expect(await store.claimPiece(ctx, slot, body, 'a')).toEqual({ received: 0, isOurs: true });
      expect(await store.settlePiece(ctx, slot, 'a', { received: 10, staged: 'a' })).toBe(true);
      expect(await store.settlePiece(ctx, slot, 'a', { received: 10, staged: 'a' })).toBe(true); // run again
      expect(await store.claimPiece(ctx, slot, body, 'b')).toEqual({ received: 10, staged: 'a', isOurs: true });
      expect(await store.claimPiece(ctx, slot, body, 'c')).toEqual({ received: 10, staged: 'a', isOurs: false });
      expect(await store.settlePiece(ctx, slot, 'b', { received: 20, staged: 'a' })).toBe(false);
      expect(await store.settlePiece(ctx, slot, 'c', { received: 15, staged: 'c' })).toBe(true);
      expect(await store.piece(ctx, slot)).toEqual({ bodyHash: body, received: 15 });
      expect(await store.claimPiece(ctx, slot, other, 'd')).toEqual({
        received: 0,
        isOurs: true,
        obsolete: { bodyHash: body, staged: 'c' },
      });
    });

    it('leases are longer by the time that no node was alive, once', async () => {
      const fact = { kind: 'deposited' as const, slot: slotOf(ctx, 0) };
      const deposit = depositOf(0);
      await store.advance(ctx, 0, () => ({ change: { facts: [fact], status: 'filling', deposit }, result: 0 }));
      expect(await store.noteAlive(0)).toBe(0); // the first one ever
      const now = await store.now();
      const long = new Uint8Array(8);
      new DataView(long.buffer).setBigUint64(0, BigInt(now - 60_000));
      await store.setNote('alive-at', long);
      const gaps = await Promise.all([1, 2, 3].map(() => store.noteAlive(30_000)));
      expect(gaps.filter((gap) => gap >= 60_000)).toHaveLength(1);
      expect(gaps.filter((gap) => gap === 0)).toHaveLength(2);
      const facts = await store.facts(ctx, 1);
      expect(facts).toEqual([{ kind: 'extended', byMs: Math.max(...gaps) }]);
    });

    it('a note is changed by what it is, by many at once', async () => {
      const raise = () => store.changeNote('n', (before) => Uint8Array.of((before?.[0] ?? 0) + 1));
      await raise();
      await Promise.all([1, 2, 3, 4].map(raise));
      await store.changeNote('n', () => undefined);
      expect(await store.note('n')).toEqual(Uint8Array.of(5));
    });

    it('the same task or model again changes nothing, another one is refused', async () => {
      const same = { task, specification: '{}', state: 'running', createdAt: 9 } as const;
      await store.addTask(same);
      await expect(store.addTask({ ...same, specification: '{"b":1}' })).rejects.toThrow('another specification');
      expect(await store.task(task)).toMatchObject({ createdAt: 5 });
      const model = { task, version: 1, modelHash: bytes(8), ctx, blobKey: 'm', madeAt: 3, accepted: 3, dropped: 1 };
      await Promise.all([store.addModel(model), store.addModel(model)]);
      await expect(store.addModel({ ...model, modelHash: bytes(9) })).rejects.toThrow('another version 1');
      expect(await store.taskStates()).toEqual([{ task, state: 'running' }]);
      expect(await store.burntSince(bytes(1) as UserId, 0)).toBe(0);
    });
  });
}
