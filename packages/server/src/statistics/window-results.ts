/** Adds opened sums to the results of their windows, each durably and once, and reads these results. */
import {
  type Ctx,
  fieldResults,
  granted,
  recordIncluded,
  recordQuarantine,
  type StatisticsPolicy,
  type TaskId,
  type TaskPolicy,
  type WindowResult,
} from '@basa/protocol';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { BatchKeeper } from '../buffers/batch-keeper.ts';
import { statisticsSums } from '../closing/opened-sums.ts';
import type { Fence } from '../store/leases.ts';
import type { WaitingSum } from '../store/opened.ts';
import type { Store } from '../store/store.ts';
import type { WindowEnds } from './window-ends.ts';

export interface WindowResultsOptions {
  readonly task: TaskId;
  readonly policy: TaskPolicy & { readonly statistics: StatisticsPolicy };
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly batches: BatchKeeper;
  readonly ends: WindowEnds;
  /** Called when sums were added. */
  onIncluded(): Promise<void>;
}

export class WindowResults {
  readonly #options: WindowResultsOptions;
  /** The newest one with a sum, as of the last look of this node. */
  newest: WindowResult | undefined;

  constructor(options: WindowResultsOptions) {
    this.#options = options;
  }

  /** Returns the sums that have ended. */
  async advance(fence: Fence | undefined): Promise<readonly Ctx[]> {
    const { store, task, onIncluded } = this.#options;
    const waiting = await store.openedSums(task);
    for (const sum of waiting) await this.#end(sum, fence);
    await this.look();
    await onIncluded();
    return waiting.map(({ ctx }) => ctx);
  }

  async #end(waiting: WaitingSum, fence: Fence | undefined): Promise<void> {
    const { store, blobs, batches, policy, task } = this.#options;
    const { ctx } = waiting;
    if (waiting.kind === 'spoilt') {
      granted(await batches.step(ctx, (found) => recordQuarantine(found, waiting.why, []), { fence }));
      return;
    }
    const batch = await batches.find(ctx);
    if (batch === undefined) throw new Error('an opened sum without its batch');
    const window = batch.rules.version; // all its uploads are of one
    const sums = [...(await statisticsSums(blobs, ctx, policy.dimension))];
    await store.addWindowSum({ ctx, task, window, devices: batch.users.length, sums }, fence);
    granted(await batches.step(ctx, (found) => recordIncluded(found, window), { fence }));
  }

  /** For the gauges of this node. */
  async look(): Promise<void> {
    const { store, task } = this.#options;
    const last = await store.lastWindow(task);
    this.newest = last === undefined ? undefined : (await this.from(last))[0];
  }

  /** From this window on, also those of which all reports were lost. */
  async from(first: number): Promise<readonly WindowResult[]> {
    const { store, task, policy, ends } = this.#options;
    const { statistics, minimum } = policy;
    const { windowMs } = statistics;
    const [found, lost] = [await store.windowSums(task, first), await store.lostReports(task, first)];
    const windows = [...new Set([...found.keys(), ...lost.keys()])].sort((a, b) => a - b);
    return windows.map((window): WindowResult => {
      const sums = found.get(window);
      return {
        window,
        from: window * windowMs,
        to: (window + 1) * windowMs,
        isOver: ends.isOver(window),
        devices: sums?.devices ?? 0,
        lost: lost.get(window) ?? 0,
        ...(sums === undefined
          ? { why: `no batch of at least ${minimum} reports was opened`, fields: [] }
          : { fields: fieldResults(policy, sums) }),
      };
    });
  }

  /** The last ones. */
  async last(count: number): Promise<readonly WindowResult[]> {
    const { store, task } = this.#options;
    const newest = (await store.lastWindow(task)) ?? 0;
    return (await this.from(Math.max(0, newest - count + 1))).slice(-count);
  }
}
