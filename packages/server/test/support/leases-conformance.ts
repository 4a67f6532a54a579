/** Leases on the batches of a task, and their fences. */
import { recordGrant } from '@basa/protocol/internal/one-shot/sums.ts';
import { nodeSuite } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import { LeaseLost } from '../../src/store/sql.ts';
import type { NodesScene } from './nodes-conformance.ts';
import { task } from './store-samples.ts';

const AGES = 10 ** 12;

export function testLeases(scene: NodesScene): void {
  describe('a lease on the batches of a task', () => {
    it('is one holder’s at a time, and renewed by it', async () => {
      expect(await scene.store.takeLease('close', 'a', AGES)).toBe(1);
      expect(await scene.store.takeLease('close', 'b', AGES)).toBeUndefined();
      expect(await scene.store.takeLease('close', 'a', AGES)).toBe(1);
      expect(await scene.store.takeLease('another', 'b', AGES)).toBe(1);
    });

    it('is given to one of many nodes that ask at the same time', async () => {
      const asked = Array.from({ length: 8 }, (_, n) => scene.store.takeLease('close', String(n), AGES));
      expect((await Promise.all(asked)).filter((fence) => fence !== undefined)).toEqual([1]);
    });

    it('that ended goes to another node with a higher fence, and writes with the old fence are refused', async () => {
      expect(await scene.store.takeLease('close', 'a', -1)).toBe(1);
      const old = { name: 'close', number: 1 };
      const write = () => scene.store.advance(scene.ctx, (batch) => recordGrant(batch, { votes: [] }), { fence: old });
      await write(); // nobody has taken it
      expect(await scene.store.takeLease('close', 'b', AGES)).toBe(2);
      await expect(write()).rejects.toThrow(LeaseLost);
      const { model, sums } = scene;
      await expect(scene.store.addModel(nodeSuite, model, sums, old)).rejects.toThrow(LeaseLost);
      await expect(scene.store.forgetModels(task, [0], old)).rejects.toThrow(LeaseLost);
      await expect(scene.store.forgetBatches(task, { madeBefore: AGES, limit: 1 }, old)).rejects.toThrow(LeaseLost);
      expect(await scene.store.batch(scene.ctx)).toMatchObject({ status: 'granted' });
      expect(await scene.store.models(task)).toEqual([]);
      await scene.store.addModel(nodeSuite, model, sums, { name: 'close', number: 2 });
      expect(await scene.store.takeLease('close', 'a', AGES)).toBeUndefined();
    });

    it('is renewed while no other node has it, also after it ended', async () => {
      await scene.store.takeLease('close', 'a', -1);
      await scene.store.renewLease({ name: 'close', number: 1 }, AGES);
      expect(await scene.store.takeLease('close', 'b', AGES)).toBeUndefined();
      await scene.store.giveLeaseBack('close', 'a');
      expect(await scene.store.takeLease('close', 'b', -1)).toBe(2);
      await scene.store.renewLease({ name: 'close', number: 1 }, AGES);
      expect(await scene.store.takeLease('close', 'c', AGES)).toBe(3);
    });

    it('that was given back is free immediately', async () => {
      await scene.store.takeLease('close', 'a', AGES);
      await scene.store.giveLeaseBack('close', 'b');
      expect(await scene.store.takeLease('close', 'b', AGES)).toBeUndefined();
      await scene.store.giveLeaseBack('close', 'a');
      expect(await scene.store.takeLease('close', 'b', AGES)).toBe(2);
    });
  });
}
