/**
 * Brings batches to their end, also after an interruption: each look takes one as far as possible.
 *
 *     frozen --authorities--> granted --sum--> opened --others, a version--> included, or quarantined
 */
import { equalBytes, toHex } from '@basa/masking';
import { type Ctx, granted } from '@basa/protocol';
import { Sums } from '@basa/protocol/one-shot';
import { AuthorityRefusal, AuthorityUnreachable } from '../authority/authority-http.ts';
import { Backoff } from '../authority/gather.ts';
import { storeOpened } from '../closing/opening.ts';
import { isStalled } from '../shots/batcher.ts';
import { endShots, type ShotContext } from '../shots/inspector.ts';
import { ShotGatherer } from '../shots/shot-gatherer.ts';
import { isEnded } from '../store/batches.ts';
import type { StoredModel } from '../store/models.ts';
import { type Fence, LeaseLost } from '../store/sql.ts';

/** Makes versions, or results of windows, of the sums that wait for them. */
export interface Versions {
  /** Processes the waiting sums as far as possible. Returns the sums that have ended. */
  advance(fence: Fence | undefined): Promise<readonly Ctx[]>;
}

export class Closer {
  readonly #context: ShotContext;
  readonly #versions: Versions;
  readonly #gatherer: ShotGatherer;
  /** The back-off of sums that could not be ended. */
  readonly #backoff: Backoff;

  constructor(context: ShotContext, versions: Versions, gatherer = new ShotGatherer(context)) {
    this.#context = context;
    this.#versions = versions;
    this.#gatherer = gatherer;
    this.#backoff = new Backoff(context.clock);
  }

  /** Those of these open batches that are to be tried now. */
  due(open: readonly { readonly ctx: Ctx }[]): readonly Ctx[] {
    this.#backoff.keepOnly(new Set(open.map(({ ctx }) => toHex(ctx))));
    return open.map(({ ctx }) => ctx).filter((ctx) => this.#backoff.isDue(toHex(ctx)));
  }

  /** Takes the sum as far as possible now. One call at a time for each task, because versions follow each other. */
  async attend(ctx: Ctx, fence: Fence | undefined): Promise<void> {
    try {
      const sum = await this.#found(ctx);
      if (isEnded(sum.status)) return; // with another one
      const isWaiting = sum.status === 'opened' || (await this.#isOpened(sum, fence));
      const ended = isWaiting ? await this.#versions.advance(fence) : [ctx];
      for (const one of ended) await this.#gatherer.ended(await this.#found(one));
    } catch (error) {
      this.#backoff.failed(toHex(ctx));
      throw error;
    }
  }

  /** Returns true if it waits for a version now; otherwise it has ended. */
  async #isOpened(sum: Sums.ShotBatch, fence: Fence | undefined): Promise<boolean> {
    const { blobs, batches, store } = this.#context;
    const { ctx } = sum;
    try {
      const opened = await storeOpened(blobs, sum, await this.#gatherer.open(sum, fence));
      // Even a spoilt sum is named in a version: its devices could contribute nothing more on the old one.
      granted(await batches.step<{ readonly kind: 'opened' }>(ctx, Sums.recordOpened, { opened, fence }));
      return true;
    } catch (error) {
      if (error instanceof LeaseLost) throw error; // another node ends it
      // The authority's decision prevails: it gave the sum up, or lost its memory of it.
      if (error instanceof AuthorityRefusal) await this.#gatherer.lost(await this.#found(ctx), fence);
      if (isEnded((await this.#found(ctx)).status)) return false;
      // A fleet continues while an authority is down.
      if (error instanceof AuthorityUnreachable) await store.setAside(ctx);
      throw error;
    }
  }

  async #found(ctx: Ctx): Promise<Sums.ShotBatch> {
    const sum = await this.#context.batches.find(ctx);
    if (sum === undefined) throw new Error(`the sum ${toHex(ctx)} is not in the store`);
    return sum;
  }
}

/**
 * A model is repeated under a new version if as many updates on it are lost as a batch needs, and the others are too few for one. These are
 * given up first, and no sum on the earlier version is used from then on, so no device is in two used sums of one model.
 */
export class Repeats {
  readonly #context: ShotContext;

  constructor(context: ShotContext) {
    this.#context = context;
  }

  /** Every batch has ended. While other devices are on their way, the updates that are left wait for them. */
  async isDue(): Promise<boolean> {
    const { models, policy, store, task } = this.#context;
    const { newest } = models;
    if (newest === undefined || (await store.openBatches(task)).length > 0) return false;
    const { lost, left } = await store.updatesOn(task, newest.name);
    if (lost < policy.minimum || left >= policy.minimum) return false;
    return left === 0 || (await this.#isQuiet(newest));
  }

  async #isQuiet({ version, name }: StoredModel): Promise<boolean> {
    const { coming, stallMs, store, task } = this.#context;
    const groups = await store.shotGroups(task);
    const lastAt = Math.max(0, ...groups.filter(({ model }) => equalBytes(model, name)).map((group) => group.lastAt));
    const idleMs = (await store.now()) - lastAt;
    return isStalled({ quietMs: coming.quietMs(version), idleMs, stallMs, isAwaited: true });
  }

  async repeat(fence: Fence | undefined): Promise<void> {
    const { models, store, task, policy } = this.#context;
    await models.refresh(); // another node may have repeated it
    if (!(await this.isDue())) return;
    const { name } = models.newest as StoredModel;
    const left = await store.shotsOn(task, name, policy.minimum);
    await endShots(this.#context, left, { to: 'over', reason: 'version-over' }, fence);
    await models.repeat(fence);
    await models.refresh();
  }
}
