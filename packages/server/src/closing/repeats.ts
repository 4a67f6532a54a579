/**
 * Versions without sums. After a rollback, the only authority of a task has given up everything open, and all devices may have given their
 * updates on the newest version: the model is repeated once under another number, so that they can give again.
 */
import { equalBytes } from '@basa/masking';
import { AuthorityRefusal } from '../authority/authority-http.ts';
import type { Fence } from '../store/leases.ts';
import type { StoredModel } from '../store/models.ts';
import { branchNote } from '../store/tasks.ts';
import { type ModelKeeper, type ModelKeeperOptions, NONE, NOTHING } from './model-keeper.ts';

export interface RepeatsOptions extends Pick<ModelKeeperOptions, 'task' | 'store' | 'authorities'> {
  readonly models: ModelKeeper;
}

/** True for a version after version 0 that comes from no sum. */
function isRepeat({ version, accepted, dropped }: StoredModel): boolean {
  return version > 0 && accepted + dropped === 0;
}

export class Repeats {
  readonly #options: RepeatsOptions;

  constructor(options: RepeatsOptions) {
    this.#options = options;
  }

  async #drop(pending: StoredModel, fence: Fence | undefined): Promise<void> {
    await this.#options.store.dropPending(pending.task, pending.version, fence);
    await this.#options.models.discard(pending);
  }

  /** True if the only authority has begun a branch of its log, now or long ago. */
  get isBranched(): boolean {
    return this.#options.authorities.branch !== undefined;
  }

  /**
   * After a rollback the only authority of a task allows one version without sums. It gave up everything open, so all devices may have given
   * their updates on the newest version. It is asked for once in each branch. If the authority refuses it, it has signed nothing of this
   * number, so the next version of sums can take it. Of several authorities only some might refuse: they are never asked.
   */
  async inBranch(fence: Fence | undefined): Promise<void> {
    const { store, task, authorities, models } = this.#options;
    const { branch } = authorities;
    const note = branchNote(task);
    const asked = await store.note(note);
    if (branch === undefined || (asked !== undefined && equalBytes(asked, branch))) return;
    await models.refresh();
    const { newest } = models;
    const last = await store.newestModel(task, 'any');
    if (newest?.entry === undefined) return;
    const isPending = last !== undefined && last.version > newest.version;
    if (isPending && !isRepeat(last)) return; // a version of sums is on its way
    const repeated = isPending ? last : await models.repeat(NOTHING, NONE, fence);
    try {
      await store.setEntry(await models.log(repeated, NOTHING, []));
    } catch (error) {
      if (!(error instanceof AuthorityRefusal)) throw error;
      await this.#drop(repeated, fence);
    }
    await store.changeNote(note, () => branch);
    await models.refresh();
  }
}
