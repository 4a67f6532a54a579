/**
 * A model is repeated under a new version if all updates on it are lost: given up before a sum of them was opened. Their devices give no
 * other update on it, and no sum of it was used in a step, so none is in two used sums of one model.
 */
import type { TaskId, TaskPolicy } from '@basa/protocol';
import type { Fence } from '../store/leases.ts';
import type { Store } from '../store/store.ts';
import { type ModelKeeper, NONE, NOTHING } from './model-keeper.ts';

export interface RepeatsOptions {
  readonly task: TaskId;
  readonly policy: Pick<TaskPolicy, 'minimum'>;
  readonly store: Store;
  readonly models: ModelKeeper;
}

export class Repeats {
  readonly #options: RepeatsOptions;

  constructor(options: RepeatsOptions) {
    this.#options = options;
  }

  /** True if as many devices lost their update on the newest version as a batch needs, and no other update on it is left. */
  async isDue(): Promise<boolean> {
    const { models, policy, store, task } = this.#options;
    const { newest } = models;
    if (newest === undefined) return false;
    const { lost, left } = await store.updatesOn(task, newest.name);
    return left === 0 && lost >= policy.minimum;
  }

  async repeat(fence: Fence | undefined): Promise<void> {
    const { models } = this.#options;
    await models.refresh(); // another node may have repeated it
    if (!(await this.isDue())) return;
    await models.repeat(NOTHING, NONE, fence);
    await models.refresh();
  }
}
