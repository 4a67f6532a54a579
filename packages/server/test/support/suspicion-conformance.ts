/** The requirements on a store for the suspicions of a task: judged with the end of a buffer, the same on every database. */
import { banned, type Ctx, cleared, millis, NEW_STANDING, type Slot, type UserId } from '@basa/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Tickets } from '../../src/admission/tickets.ts';
import type { Store } from '../../src/store/store.ts';
import type { Verdict } from '../../src/store/suspicions.ts';
import { seatOf } from './seats-conformance.ts';
import { buffersOf, depositOf, policy, slotOf, task, userOf } from './store-samples.ts';

const AGES = 10 ** 12;
const hex = (user: UserId): string => Buffer.from(user).toString('hex');

export function testSuspicions(
  name: string,
  open: () => Promise<{ store: Store; tickets: Tickets; reopen(): Promise<Store> }>,
): void {
  describe(`suspicions over ${name}`, () => {
    let store: Store;
    let tickets: Tickets;
    let reopen: () => Promise<Store>;
    let buffers = 0;
    beforeEach(async () => {
      ({ store, tickets, reopen } = await open());
      await store.addTask({ task, policy, specification: '{}', state: 'running', createdAt: 5 });
    });
    afterEach(() => store.close());

    const drawn = async (): Promise<Ctx> => {
      const made = buffersOf(++buffers, { expiry: millis(10 * AGES) });
      await store.addBuffer({ ...made, task, drawnAt: buffers });
      return made.ctx;
    };
    const deposit = (ctx: Ctx, n: number, slot: number) =>
      store.advance(ctx, slot, () => ({
        change: {
          facts: [{ kind: 'deposited', slot: { ...slotOf(ctx, slot), user: userOf(n) } }],
          status: 'filling',
          deposit: depositOf(slot, { user: userOf(n), until: 0 }),
        },
        result: undefined,
      }));
    /** A buffer of these devices that ends like this. */
    const ended = async (devices: readonly number[], outcome: Verdict['outcome'], named: readonly number[] = []) => {
      const ctx = await drawn();
      for (const [slot, n] of devices.entries()) await deposit(ctx, n, slot);
      const verdict = { task, minimum: 2, users: devices.map(userOf), outcome, named: named.map(userOf) };
      const facts = [
        outcome === 'clean'
          ? ({ kind: 'included', version: 1 } as const)
          : ({ kind: 'quarantined', why: 'guards', slots: [] } as const),
      ];
      const status = outcome === 'clean' ? 'included' : 'quarantined';
      await store.advance(ctx, devices.length, () => ({ change: { facts, status, verdict }, result: undefined }));
      return ctx;
    };
    const standing = async (n: number) => (await store.suspicions(task)).suspects.get(hex(userOf(n)));

    it('do not exist before the first sum', async () => {
      const { sums, suspects } = await store.suspicions(task);
      expect([sums, suspects.size]).toEqual([0, 0]);
    });

    it('rise with a spoilt sum, fall with clean ones, and outlive a restart', async () => {
      await ended([1, 2, 3, 4], 'spoilt');
      store = await reopen();
      const { sums, suspects } = await store.suspicions(task);
      expect([sums, suspects.size]).toEqual([1, 4]);
      expect((await standing(1))?.suspicion).toBeCloseTo(0.01 / (0.01 + 0.99 * (1 - 0.99 ** 3)), 12);
      await ended([1, 5, 6], 'clean');
      const after = await store.suspicions(task);
      expect(after.suspects.get(hex(userOf(1)))?.suspicion).toBeCloseTo(0.145, 2);
      expect(after.trust).toEqual({ trusted: 2, mild: 2 }); // no more than the minimum are counted
    });

    it('suspend a named cheat immediately, and no other device', async () => {
      await ended([1, 2, 3], 'spoilt', [2]);
      expect([...(await store.suspicions(task)).suspects.keys()]).toEqual([hex(userOf(2))]);
      expect(await standing(2)).toMatchObject({ suspendedUntil: 51, suspensions: 1 });
    });

    it('suspend a device that repeatedly spoils sums with trusted devices, if enough others are left', async () => {
      for (let n = 0; n < 4; n++) await ended([2, 3, 4, 5, 6], 'clean');
      for (const beside of [2, 4, 6]) await ended([1, beside], 'spoilt');
      expect((await standing(1))?.suspendedUntil).toBeUndefined();
      await ended([1, 3, 5], 'spoilt');
      expect(await standing(1)).toMatchObject({ suspensions: 1, suspendedUntil: 58 });
    });

    it('are cleared by an operator, who can also ban devices, even if they were never suspected', async () => {
      await ended([1, 2, 3], 'spoilt', [2]);
      expect(await store.changeStanding(task, userOf(2), cleared)).toEqual({ ...NEW_STANDING, suspensions: 1 });
      expect(await standing(2)).toBeUndefined();
      await store.changeStanding(task, userOf(9), banned);
      expect(await standing(9)).toEqual({ ...NEW_STANDING, isBanned: true });
    });

    it('are written with the end of the buffer or not at all', async () => {
      const ctx = await drawn();
      const verdict = { task, minimum: 2, users: [userOf(1)], outcome: 'spoilt' as const, named: [] };
      const wrong = { kind: 'dropped' as const, slot: 5000 as Slot };
      const failing = store.advance(ctx, 0, () => ({
        change: { facts: [wrong], status: 'quarantined', verdict },
        result: undefined,
      }));
      await expect(failing).rejects.toThrow();
      expect((await store.suspicions(task)).sums).toBe(0);
    });

    it('of a task go with it', async () => {
      await ended([1, 2], 'spoilt');
      await store.setTaskState(task, 'finished');
      expect((await store.removeTask(task)).isRemoved).toBe(true);
      expect((await store.suspicions(task)).sums).toBe(0);
    });

    describe('decide which device gets a seat', () => {
      const ask = (n: number) => seatOf({ tickets }, n);
      const isLetIn = (n: number, ctx: Ctx, lateMs: number) =>
        tickets.hasSeat(task, userOf(n), ctx, { bufferSize: 4, forMs: AGES, lateMs });
      beforeEach(async () => {
        for (let n = 0; n < 3; n++) await ended([5, 6, 7, 8], 'clean');
        await ended([1, 2, 3, 4], 'spoilt');
      });

      it('one suspect gets a seat in a buffer, another waits without a new buffer, and a trusted device gets a seat', async () => {
        const ctx = await drawn();
        expect(await ask(1)).toMatchObject({ kind: 'seated', ctx });
        expect(await ask(2)).toEqual({ kind: 'must-wait' });
        expect(await ask(5)).toMatchObject({ kind: 'seated', ctx, seats: 2 });
        expect(await ask(1)).toMatchObject({ kind: 'seated', ctx, seats: 2 });
        await deposit(ctx, 1, 0);
        expect(await ask(2)).toEqual({ kind: 'must-wait' });
        const other = await drawn();
        expect(await ask(2)).toMatchObject({ kind: 'seated', ctx: other });
      });

      it('a suspect with a seat in one buffer gets none beside another suspect, and keeps its own', async () => {
        const [own, other] = [await drawn(), await drawn()];
        expect([await ask(1), await ask(2)]).toMatchObject([{ ctx: own }, { ctx: other }]);
        expect(await isLetIn(1, other, 0)).toBe(false);
        expect(await ask(1)).toMatchObject({ kind: 'seated', ctx: own });
      });

      it('the same rule applies to a suspect that asks for a given buffer, but it may enter a buffer that waited long', async () => {
        const ctx = await drawn();
        await ask(1);
        expect([await isLetIn(2, ctx, 0), await isLetIn(5, ctx, 0)]).toEqual([false, true]);
        expect(await isLetIn(2, ctx, 100 * AGES)).toBe(true);
      });
    });
  });
}
