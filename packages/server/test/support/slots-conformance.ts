/** Slots: inboxes, pieces of uploads, and how many a device has not finished. */
import { type Ctx, millis, type Slot } from '@basa/protocol';
import { describe, expect, it } from 'vitest';
import { TooManySlots } from '../../src/store/slots.ts';
import { AGES, type NodesScene } from './nodes-scene.ts';
import { buffersOf, bytes, depositOf, headerOf, slotOf, task, userOf } from './store-samples.ts';

export function testSlots(scene: NodesScene): void {
  it('an inbox holds the sealed seeds of every earlier slot, even if many devices deposit at the same time', async () => {
    const wide = buffersOf(3, { expiry: millis(AGES * 10), bufferSize: 12 });
    await scene.store.addBuffer({ ...wide, task, drawnAt: 9 });
    const counts = await Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        const { result: slot } = await scene.store.advance(wide.ctx, 0, (known) => {
          const mine = known.length as Slot;
          const outbox = Array.from({ length: 11 - mine }, (__, to) => bytes(mine, 8 + to));
          const filed = depositOf(mine, { user: userOf(n), outbox });
          const fact = { kind: 'deposited' as const, slot: slotOf(wide.ctx, mine) };
          return { change: { facts: [fact], status: 'filling' as const, deposit: filed }, result: mine };
        });
        return (await scene.store.inbox(wide.ctx, slot)).length - slot;
      }),
    );
    expect(counts).toEqual(counts.map(() => 0));
  });

  describe('slots that a device has not finished', () => {
    const user = userOf(5);
    const begin = (at: Ctx, slot: number, more: object = {}) => {
      const fact = { kind: 'deposited' as const, slot: slotOf(at, slot) };
      const deposit = depositOf(slot, { user, ...more });
      return scene.store.advance(at, 0, () => ({ change: { facts: [fact], status: 'filling', deposit }, result: 0 }));
    };

    it('are at most two, even if it deposits in many buffers at the same time', async () => {
      const buffers = await Promise.all([2, 3, 4, 5, 6, 7, 8, 9].map((id) => scene.drawn(id)));
      const begun = await Promise.allSettled(buffers.map((at) => begin(at, 0)));
      const refused = begun.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
      expect(refused).toHaveLength(6);
      expect(refused.every((reason) => reason instanceof TooManySlots)).toBe(true);
      expect(await scene.store.unfinishedSlots(task, user)).toMatchObject({ slots: 2 });
      const lengths = await Promise.all(buffers.map(async (at) => (await scene.store.facts(at, 0)).length));
      expect(lengths.reduce((sum, each) => sum + each, 0)).toBe(2);
    });

    it('are counted for each device and each task', async () => {
      const [a, b] = [await scene.drawn(2), await scene.drawn(3)];
      for (const at of [a, b]) await begin(at, 0);
      await begin(scene.ctx, 0, { user: userOf(6) });
      await expect(begin(scene.ctx, 1)).rejects.toThrow(TooManySlots);
      await begin(scene.ctx, 2, { task: bytes(99) });
      expect(await scene.store.unfinishedSlots(task, userOf(6))).toMatchObject({ slots: 1 });
      expect(await scene.store.unfinishedSlots(task, userOf(7))).toEqual({ slots: 0, freeInMs: 0 });
    });

    it('count until the upload is accepted or the lease ends, for every outcome of the buffer', async () => {
      const [a, b] = [await scene.drawn(2), await scene.drawn(3)];
      const now = await scene.store.now();
      await begin(a, 0, { until: now + 60_000 });
      await begin(b, 0, { until: now + 3_600_000 });
      const { slots, freeInMs } = await scene.store.unfinishedSlots(task, user);
      expect(slots).toBe(2);
      expect(freeInMs).toBeGreaterThan(0);
      expect(freeInMs).toBeLessThanOrEqual(60_001);
      await scene.store.advance(a, 1, () => ({
        change: { facts: [{ kind: 'aborted' }], status: 'aborted' },
        result: 0,
      }));
      await expect(begin(scene.ctx, 0)).rejects.toThrow(TooManySlots);
      const accepted = { kind: 'accepted' as const, header: headerOf(b, 0) };
      await scene.store.advance(b, 1, () => ({ change: { facts: [accepted], status: 'filling' }, result: 0 }));
      expect(await scene.store.unfinishedSlots(task, user)).toMatchObject({ slots: 1 });
      await begin(scene.ctx, 0, { until: now - 60_000 });
      expect(await scene.store.unfinishedSlots(task, user)).toMatchObject({ slots: 1 });
      await scene.store.forgetLapsedSlots();
      await begin(await scene.drawn(4), 0);
      expect(await scene.store.unfinishedSlots(task, user)).toMatchObject({ slots: 2 });
    });

    it('count longer by the time that no node was alive', async () => {
      await begin(scene.ctx, 0, { until: (await scene.store.now()) - 30_000 });
      expect(await scene.store.unfinishedSlots(task, user)).toMatchObject({ slots: 0 });
      await scene.store.noteAlive(0);
      await scene.setLastAlive(60_000);
      await scene.store.noteAlive(30_000);
      expect(await scene.store.unfinishedSlots(task, user)).toMatchObject({ slots: 1 });
    });
  });

  it('of two attempts to append a piece, the newer one counts', async () => {
    const slot = 1 as Slot;
    const [body, other] = [bytes(1), bytes(2)];
    expect(await scene.store.claimPiece(scene.ctx, slot, body, 'a')).toEqual({ received: 0, isOurs: true });
    expect(await scene.store.settlePiece(scene.ctx, slot, 'a', { received: 10, staged: 'a' })).toBe(true);
    expect(await scene.store.settlePiece(scene.ctx, slot, 'a', { received: 10, staged: 'a' })).toBe(true); // run again
    expect(await scene.store.claimPiece(scene.ctx, slot, body, 'b')).toEqual({
      received: 10,
      staged: 'a',
      isOurs: true,
    });
    expect(await scene.store.claimPiece(scene.ctx, slot, body, 'c')).toEqual({
      received: 10,
      staged: 'a',
      isOurs: false,
    });
    expect(await scene.store.settlePiece(scene.ctx, slot, 'b', { received: 20, staged: 'a' })).toBe(false);
    expect(await scene.store.settlePiece(scene.ctx, slot, 'c', { received: 15, staged: 'c' })).toBe(true);
    expect(await scene.store.piece(scene.ctx, slot)).toEqual({ bodyHash: body, received: 15 });
    expect(await scene.store.claimPiece(scene.ctx, slot, other, 'd')).toEqual({
      received: 0,
      isOurs: true,
      obsolete: { bodyHash: body, staged: 'c' },
    });
  });
}
