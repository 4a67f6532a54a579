/** Seats in buffers and places under way, of which no more are given than there are. */
import { millis, type Slot } from '@basa/protocol';
import { describe, expect, it } from 'vitest';
import { AGES, type NodesScene } from './nodes-scene.ts';
import { testPlaces } from './places-conformance.ts';
import { buffersOf, bytes, depositOf, slotOf, task, userOf } from './store-samples.ts';

/** Asks for a seat in the name of the nth device, which needs no place. */
export async function seatOf({ tickets }: Pick<NodesScene, 'tickets'>, n: number, more: object = {}) {
  const wish = { bufferSize: 4, forMs: AGES, lateMs: 0, seatsAhead: 0, freshNonce: bytes(n, 16), ...more };
  return (await tickets.enter(task, userOf(n), wish)).seat;
}

export function testSeats(scene: NodesScene): void {
  testPlaces(scene);

  describe('seats', () => {
    const ask = (n: number, more: object = {}) => seatOf(scene, n, more);
    const deposit = (n: number) =>
      scene.store.advance(scene.ctx, 0, (known) => {
        const slot = known.length as Slot;
        const filed = depositOf(slot, { user: userOf(n) });
        const fact = { kind: 'deposited' as const, slot: { ...slotOf(scene.ctx, slot), user: userOf(n) } };
        return { change: { facts: [fact], status: 'filling' as const, deposit: filed }, result: slot };
      });

    it('of a buffer are given once, even if many devices ask at the same time; then all draw with the same nonce', async () => {
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
      expect(await ask(2)).toMatchObject({ kind: 'seated', ctx: scene.ctx }); // the one it has
      expect(await ask(0)).toMatchObject({ kind: 'needs-buffer' }); // not twice in one buffer
    });

    it('are given in the next buffer, and its nonce is used up', async () => {
      for (const n of [0, 1, 2, 3]) await ask(n);
      const full = await ask(4);
      if (full.kind !== 'needs-buffer') throw new Error('a fifth seat of four');
      const next = buffersOf(2, { expiry: millis(AGES * 10) });
      await scene.store.addBuffer({ ...next, task, drawnAt: 9 }, full.nonce);
      expect(await ask(4)).toMatchObject({ kind: 'seated', ctx: next.ctx });
      for (const n of [5, 6, 7]) await ask(n);
      const again = await ask(8);
      expect(again).toEqual({ kind: 'needs-buffer', nonce: bytes(8, 16) });
      await scene.tickets.forgetDraw(task, bytes(7, 16)); // not this one
      expect(await ask(9)).toEqual(again);
      await scene.tickets.forgetDraw(task, bytes(8, 16));
      expect(await ask(9)).toEqual({ kind: 'needs-buffer', nonce: bytes(9, 16) });
    });

    it('lapse, and go to another device', async () => {
      for (const n of [0, 1, 2]) await ask(n);
      await ask(3, { forMs: -1 });
      expect(await ask(4)).toMatchObject({ kind: 'seated', seats: 4 });
      await scene.tickets.forget(0);
      expect(await ask(3)).toMatchObject({ kind: 'needs-buffer' });
      expect(await ask(0)).toMatchObject({ kind: 'seated' });
    });

    it('can be requested in one given buffer, also while the task is paused', async () => {
      const other = await scene.drawn(2);
      await scene.store.setTaskState(task, 'paused');
      expect(await ask(0)).toEqual({ kind: 'not-running' });
      const isIn = () => scene.tickets.hasSeat(task, userOf(0), other, { bufferSize: 4, forMs: AGES, lateMs: 0 });
      expect([await isIn(), await isIn()]).toEqual([true, true]);
      await scene.store.advance(other, 0, () => ({
        change: { facts: [{ kind: 'aborted' }], status: 'aborted' },
        result: 0,
      }));
      expect(await isIn()).toBe(true); // until it lapses: the buffer itself says that it is over
      expect(await scene.tickets.hasSeat(task, userOf(1), other, { bufferSize: 4, forMs: AGES, lateMs: 0 })).toBe(
        false,
      );
    });

    it('are drawn ahead if few are left, with the nonce of the draw that is under way', async () => {
      for (const n of [0, 1]) expect(await ask(n, { seatsAhead: 2 })).not.toHaveProperty('nonce', expect.anything());
      expect(await ask(2, { seatsAhead: 2 })).toMatchObject({ kind: 'seated', nonce: bytes(2, 16) });
      expect(await ask(3, { seatsAhead: 2 })).toMatchObject({ kind: 'seated', nonce: bytes(2, 16) });
      expect(await ask(4)).toEqual({ kind: 'needs-buffer', nonce: bytes(2, 16) });
    });

    it('are used up with the place and the line by a deposit', async () => {
      const place = { version: 0, leaseMs: () => AGES, decide: () => 'place' as const };
      await scene.tickets.ask(task, userOf(0), place);
      await ask(0);
      await deposit(0);
      expect(await scene.tickets.hasPlace(task, userOf(0))).toBe(false);
      expect(await scene.tickets.count(task)).toMatchObject({ underWay: 0, waiting: 0 });
    });
  });
}
