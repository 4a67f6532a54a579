/** Seats in buffers and places under way, of which no more are given than there are. */
import { millis, type Slot } from '@basa/protocol';
import { describe, expect, it } from 'vitest';
import { placesInDatabase } from '../../src/seats/under-way.ts';
import { AGES, type NodesScene } from './nodes-scene.ts';
import { testPlaces } from './places-conformance.ts';
import { buffersOf, bytes, depositOf, slotOf, task, userOf } from './store-samples.ts';

export function testSeats(scene: NodesScene): void {
  testPlaces(() => placesInDatabase(scene.store, task));

  describe('seats', () => {
    const ask = (n: number, more: object = {}) =>
      scene.store.takeSeat(task, userOf(n), { forMs: AGES, lateMs: 0, freshNonce: bytes(n, 16), ...more });
    const deposit = (n: number) =>
      scene.store.advance(scene.ctx, 0, (known) => {
        const slot = known.length as Slot;
        const filed = depositOf(slot, { user: userOf(n) });
        const fact = { kind: 'deposited' as const, slot: { ...slotOf(scene.ctx, slot), user: userOf(n) } };
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
      expect(await ask(2)).toMatchObject({ kind: 'seated', ctx: scene.ctx }); // the one it has
      expect(await ask(0)).toMatchObject({ kind: 'needs-buffer' }); // not twice in one buffer
    });

    it('are given in the next buffer, whose nonce is used up', async () => {
      for (const n of [0, 1, 2, 3]) await ask(n);
      const full = await ask(4);
      if (full.kind !== 'needs-buffer') throw new Error('a fifth seat of four');
      const next = buffersOf(2, { expiry: millis(AGES * 10) });
      await scene.store.addBuffer({ ...next, task, drawnAt: 9 }, full.nonce);
      expect(await ask(4)).toMatchObject({ kind: 'seated', ctx: next.ctx });
      for (const n of [5, 6, 7]) await ask(n);
      const again = await ask(8);
      expect(again).toEqual({ kind: 'needs-buffer', nonce: bytes(8, 16) });
      await scene.store.forgetDraw(task, bytes(7, 16)); // not this one
      expect(await ask(9)).toEqual(again);
      await scene.store.forgetDraw(task, bytes(8, 16));
      expect(await ask(9)).toEqual({ kind: 'needs-buffer', nonce: bytes(9, 16) });
    });

    it('lapse, and go to another', async () => {
      for (const n of [0, 1, 2]) await ask(n);
      await ask(3, { forMs: -1 });
      expect(await ask(4)).toMatchObject({ kind: 'seated', seats: 4 });
      await scene.store.forgetSeats();
      expect(await ask(3)).toMatchObject({ kind: 'needs-buffer' });
      expect(await ask(0)).toMatchObject({ kind: 'seated' });
    });

    it('are asked for in one buffer only, also while the task is paused', async () => {
      const other = await scene.drawn(2);
      await scene.store.setTaskState(task, 'paused');
      expect(await ask(0)).toEqual({ kind: 'not-running' });
      expect(await ask(0, { only: other })).toMatchObject({ kind: 'seated', ctx: other });
      await scene.store.advance(other, 0, () => ({
        change: { facts: [{ kind: 'aborted' }], status: 'aborted' },
        result: 0,
      }));
      expect(await ask(0, { only: other })).toMatchObject({ kind: 'needs-buffer' });
    });
  });
}
