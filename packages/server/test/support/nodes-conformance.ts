/** What several nodes find on a store: leases, places, notes, tasks and versions. */
import type { Ctx } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Places } from '../../src/admission/places.ts';
import type { FreshModel, SumsOfVersion } from '../../src/store/models.ts';
import type { Store } from '../../src/store/store.ts';
import { testLeases } from './leases-conformance.ts';
import { testPlaces } from './places-conformance.ts';
import { batchIn, bytes, policy, task } from './store-samples.ts';

/** A store with a running task and one batch, and the first version, made of its batch. */
export interface NodesScene {
  readonly store: Store;
  readonly placeTable: Places;
  readonly ctx: Ctx;
  readonly model: FreshModel;
  readonly sums: SumsOfVersion;
}

export function testNodes(
  name: string,
  open: () => Promise<{ readonly store: Store; readonly placeTable: Places }>,
): void {
  describe(`nodes on a store over ${name}`, () => {
    const scene = {} as NodesScene;
    beforeEach(async () => {
      const opened = await open();
      await opened.store.addTask({ task, policy, specification: '{}', state: 'running', createdAt: 5 });
      const ctx = await batchIn(opened.store, 1);
      const model = { task, version: 1, modelHash: bytes(8), blobKey: 'm', madeAt: 3, accepted: 3, dropped: 1 };
      Object.assign(scene, { ...opened, ctx, model, sums: { sums: [ctx], spoilt: [] } });
    });
    afterEach(() => scene.store.close());

    testPlaces(scene);
    testLeases(scene);

    it('a note is changed based on its current value, by several nodes at the same time', async () => {
      const raise = () => scene.store.changeNote('n', (before) => Uint8Array.of((before?.[0] ?? 0) + 1));
      await raise();
      await Promise.all([1, 2, 3, 4].map(raise));
      await scene.store.changeNote('n', () => undefined);
      expect(await scene.store.note('n')).toEqual(Uint8Array.of(5));
    });

    it('adding the same task or model again changes nothing, and a different one is refused', async () => {
      const same = { task, policy, specification: '{}', state: 'running', createdAt: 9 } as const;
      await scene.store.addTask(same);
      await expect(scene.store.addTask({ ...same, specification: '{"b":1}' })).rejects.toThrow('another specification');
      expect(await scene.store.task(task)).toMatchObject({ createdAt: 5 });
      const { model, sums } = scene;
      await Promise.all([scene.store.addModel(nodeSuite, model, sums), scene.store.addModel(nodeSuite, model, sums)]);
      await expect(scene.store.addModel(nodeSuite, { ...model, modelHash: bytes(9) }, sums)).rejects.toThrow(
        'another version 1',
      );
      expect(await scene.store.taskStates()).toEqual([{ task, state: 'running' }]);
    });
  });
}
