/**
 * Brings batches to their end, also after an interruption: each look takes one as far as possible.
 *
 *     frozen --authorities--> granted --sum--> opened --others, a version--> included, or quarantined
 */
import { toHex } from '@basa/masking';
import { type Ctx, granted, isGranted, recordOpened, type ShotBatch } from '@basa/protocol';
import { AuthorityRefusal, AuthorityUnreachable } from '../authority/authority-http.ts';
import { Backoff } from '../authority/backoff.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { storeOpened } from '../closing/opened-sums.ts';
import type { ShotGatherer } from '../shots/shot-gatherer.ts';
import { isEnded } from '../store/batches.ts';
import type { Fence } from '../store/leases.ts';
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
