/**
 * Brings batches to their end, also after an interruption: each look takes one as far as possible.
 *
 *     frozen --authorities--> granted --sum--> opened --others, a version--> included, or quarantined
 */
import { equalBytes, toHex } from '@basa/masking';
import {
  type Ctx,
  granted,
  isGranted,
  recordOpened,
  type ShotBatch,
  type TaskId,
  type TaskPolicy,
} from '@basa/protocol';
import { AuthorityRefusal, AuthorityUnreachable } from '../authority/authority-http.ts';
import { Backoff } from '../authority/gather.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { ModelKeeper } from '../closing/model-keeper.ts';
import { storeOpened } from '../closing/opening.ts';
import { type Coming, isStalled } from '../shots/batcher.ts';
import type { BatchKeeper } from '../shots/batches.ts';
import { endShots } from '../shots/inspector.ts';
import type { ShotGatherer } from '../shots/shot-gatherer.ts';
import { isEnded } from '../store/batches.ts';
import type { StoredModel } from '../store/models.ts';
import type { Fence } from '../store/sql.ts';
import type { Store } from '../store/store.ts';
import type { VersionMaker } from './version-maker.ts';

export interface CloserOptions {
  readonly gatherer: ShotGatherer;
  readonly versions: Pick<VersionMaker, 'advance'>;
  readonly blobs: BlobStore;
  /** The clock of this node. */
  readonly clock: () => number;
  /** Called if authorities that are needed for its end do not answer. */
  onUnanswered(sum: ShotBatch): void;
  /** Called when it has ended, and none of its data is needed any more. */
  onEnded(ctx: Ctx): void;
}

export class Closer {
  readonly #options: CloserOptions;
  /** The back-off of sums that could not be ended. */
  readonly #backoff: Backoff;

  constructor(options: CloserOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.clock);
  }

  /** Those that are to be tried now. */
  due(names: readonly Ctx[]): readonly Ctx[] {
    return names.filter((ctx) => this.#backoff.isDue(toHex(ctx)));
  }

  /**
   * Takes the sum as far as possible now, under this lease if there are several nodes. One call at a time for each
   * task, because versions follow each other.
   */
  async attend(ctx: Ctx, fence: Fence | undefined): Promise<void> {
    try {
      await this.#attend(ctx, fence);
    } catch (error) {
      this.#backoff.failed(toHex(ctx));
      throw error;
    }
  }

  async #attend(ctx: Ctx, fence: Fence | undefined): Promise<void> {
    const sum = await this.#found(ctx);
    if (sum.status === 'frozen' || isGranted(sum)) await this.#finish(sum, fence);
    await this.#tidy(ctx);
  }

  async #finish(sum: ShotBatch, fence: Fence | undefined): Promise<void> {
    const isWaiting = sum.status === 'opened' || (await this.#isOpened(sum, fence));
    if (!isWaiting) return;
    for (const ctx of await this.#options.versions.advance(fence)) await this.#tidy(ctx);
  }

  /** Returns true if it waits for a version now. */
  async #isOpened(sum: ShotBatch, fence: Fence | undefined): Promise<boolean> {
    const { gatherer, blobs, onUnanswered } = this.#options;
    const { ctx } = sum;
    try {
      const opened = await storeOpened(blobs, sum, await gatherer.open(sum, fence));
      // Even a spoilt sum is named in a version: its devices could contribute nothing more on the old one.
      granted(await gatherer.keeper.step<{ readonly kind: 'opened' }>(ctx, recordOpened, { more: { opened }, fence }));
      return true;
    } catch (error) {
      // The authority's decision prevails: it gave the sum up, or lost its memory of it.
      if (error instanceof AuthorityRefusal) await gatherer.lost(await this.#found(ctx), fence);
      const left = await this.#found(ctx);
      if (isEnded(left.status)) return false;
      if (error instanceof AuthorityUnreachable) onUnanswered(left);
      throw error;
    }
  }

  async #tidy(ctx: Ctx): Promise<void> {
    const { gatherer, onEnded } = this.#options;
    const sum = await this.#found(ctx);
    if (!isEnded(sum.status)) return;
    this.#backoff.over(toHex(ctx));
    await gatherer.ended(sum);
    onEnded(ctx);
  }

  async #found(ctx: Ctx): Promise<ShotBatch> {
    const sum = await this.#options.gatherer.keeper.find(ctx);
    if (sum === undefined) throw new Error(`the sum ${toHex(ctx)} is not in the store`);
    return sum;
  }
}

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

/**
 * A model is repeated under a new version if as many updates on it are lost as a batch needs, and the others are too few for one. These are
 * given up first, and no sum on the earlier version is used from then on, so no device is in two used sums of one model.
 */
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
