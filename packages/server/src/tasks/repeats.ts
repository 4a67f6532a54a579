/**
 * A model is repeated under a new version if as many updates on it are lost as a batch needs, and the others are too few for one. These are
 * given up first, and no sum on the earlier version is used from then on, so no device is in two used sums of one model.
 */
import { equalBytes } from '@basa/masking';
import type { TaskId, TaskPolicy } from '@basa/protocol';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { BatchKeeper } from '../buffers/batch-keeper.ts';
import type { ModelKeeper } from '../closing/model-keeper.ts';
import { isStalled } from '../closing/when-to-end.ts';
import type { Coming } from '../shots/batcher.ts';
import { endShots } from '../shots/end-shots.ts';
import type { Fence } from '../store/leases.ts';
import type { StoredModel } from '../store/models.ts';
import type { Store } from '../store/store.ts';

export interface RepeatsOptions {
  readonly task: TaskId;
  readonly policy: Pick<TaskPolicy, 'minimum'>;
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly batches: BatchKeeper;
  readonly models: ModelKeeper;
  readonly coming: Coming;
  readonly stallMs: number | undefined;
}

export class Repeats {
  readonly #options: RepeatsOptions;

  constructor(options: RepeatsOptions) {
    this.#options = options;
  }

  /** Every batch has ended. While other devices are on their way, the updates that are left wait for them. */
  async isDue(): Promise<boolean> {
    const { batches, models, policy, store, task } = this.#options;
    const { newest } = models;
    if (newest === undefined || batches.living.some((batch) => equalBytes(batch.task, task))) return false;
    const { lost, left } = await store.updatesOn(task, newest.name);
    if (lost < policy.minimum || left >= policy.minimum) return false;
    return left === 0 || (await this.#isQuiet(newest));
  }

  async #isQuiet({ version, name }: StoredModel): Promise<boolean> {
    const { coming, stallMs = Number.POSITIVE_INFINITY, store, task } = this.#options;
    const groups = await store.shotGroups(task);
    const lastAt = Math.max(0, ...groups.filter(({ model }) => equalBytes(model, name)).map((group) => group.lastAt));
    const idleMs = (await store.now()) - lastAt;
    return isStalled({ quietMs: coming.quietMs(version), idleMs, stallMs, isAwaited: true });
  }

  async repeat(fence: Fence | undefined): Promise<void> {
    const { models } = this.#options;
    await models.refresh(); // another node may have repeated it
    if (!(await this.isDue())) return;
    await this.#giveUp(models.newest as StoredModel, fence);
    await models.repeat(fence);
    await models.refresh();
  }

  async #giveUp({ name }: StoredModel, fence: Fence | undefined): Promise<void> {
    const { store, task, policy } = this.#options;
    const left = await store.shotsOn(task, name, policy.minimum);
    await endShots(this.#options, left, { to: 'over', reason: 'version-over' }, fence);
  }
}
