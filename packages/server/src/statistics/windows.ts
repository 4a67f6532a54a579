/** The windows of a statistics task, in the place of the versions of a model: when one ends, and what its reports add up to. */

import { equalBytes } from '@basa/masking';
import { type Ctx, granted, millis } from '@basa/protocol';
import { Sums } from '@basa/protocol/one-shot';
import { fieldResults, Statistics, type WindowResult } from '@basa/protocol/policy';
import { modelNameOf } from '@basa/protocol/wire';
import { type ModelContext, ModelKeeper } from '../closing/model-keeper.ts';
import { statisticsSums } from '../closing/opening.ts';
import type { Coming, TaskContext } from '../shots/context.ts';
import type { WaitingSum } from '../store/batches.ts';
import type { StoredModel } from '../store/models.ts';
import type { Fence } from '../store/sql.ts';

/** The time after its end in which reports of a window still come: a quarter of it, and at most this. */
const GRACE_MS = 60_000;

/** The end of a window: from then on its batches take what there is, and too few reports are given up. */
export class WindowEnds implements Coming {
  readonly #statistics: Statistics.StatisticsPolicy;
  readonly #clock: () => number;

  constructor(statistics: Statistics.StatisticsPolicy, clock: () => number) {
    this.#statistics = statistics;
    this.#clock = clock;
  }

  isOver(window: number): boolean {
    const { windowMs } = this.#statistics;
    return this.#clock() >= (window + 1) * windowMs + Math.min(GRACE_MS, windowMs / 4);
  }

  quietMs(window: number): number {
    return this.isOver(window) ? Number.POSITIVE_INFINITY : 0;
  }

  coming(window: number): number | undefined {
    return this.isOver(window) ? 0 : undefined;
  }
}

/**
 * The windows of a statistics task, in the place of the versions of a model: each follows from the clock, and none is stored. An upload names
 * its window as others name a model.
 */
export class WindowKeeper extends ModelKeeper {
  readonly #context: ModelContext;
  readonly #statistics: Statistics.StatisticsPolicy;
  /** The clock of this node. */
  readonly #clock: () => number;

  constructor(context: ModelContext, statistics: Statistics.StatisticsPolicy, clock: () => number) {
    super(context);
    this.#context = context;
    this.#statistics = statistics;
    this.#clock = clock;
  }

  override get newest(): StoredModel {
    return this.#window(Statistics.windowAt(this.#statistics, millis(this.#clock())));
  }

  override async current(): Promise<StoredModel> {
    return this.newest;
  }

  override async open(): Promise<void> {}

  override async refresh(): Promise<void> {}

  override async checkNewest(): Promise<void> {}

  /** A device's clock may be ahead of this one by as much as a window. */
  override async named(name: Uint8Array): Promise<StoredModel | undefined> {
    const { version } = this.newest;
    const { maxStaleness } = this.#context.read.policy;
    for (let window = version + 1; window >= Math.max(0, version - maxStaleness - 1); window--) {
      const one = this.#window(window);
      if (equalBytes(one.name, name)) return one;
    }
    return undefined;
  }

  override async of(ctx: Ctx): Promise<StoredModel | undefined> {
    const window = await this.#context.store.windowOf(ctx);
    return window === undefined ? undefined : this.#window(window);
  }

  override async isRepeated(): Promise<boolean> {
    return false;
  }

  #window(window: number): StoredModel {
    const { task, ports } = this.#context;
    const statistics = this.#statistics;
    const statement = Statistics.windowStatement(task, statistics, window);
    const name = modelNameOf(ports.suite, statement);
    return { ...statement, name, blobKey: '', madeAt: window * statistics.windowMs, accepted: 0, dropped: 0 };
  }
}

/** Adds opened sums to the results of their windows, each durably and once, and reads these results. */
export class WindowResults {
  readonly #context: TaskContext;
  readonly #statistics: Statistics.StatisticsPolicy;
  readonly #ends: WindowEnds;
  /** The newest one with a sum, as of the last look of this node. */
  newest: WindowResult | undefined;

  constructor(context: TaskContext, statistics: Statistics.StatisticsPolicy, ends: WindowEnds) {
    this.#context = context;
    this.#statistics = statistics;
    this.#ends = ends;
  }

  /** Returns the sums that have ended. */
  async advance(fence: Fence | undefined): Promise<readonly Ctx[]> {
    const { store, task, onIncluded } = this.#context;
    const waiting = await store.openedSums(task);
    for (const sum of waiting) await this.#end(sum, fence);
    await this.look();
    await onIncluded();
    return waiting.map(({ ctx }) => ctx);
  }

  async #end(waiting: WaitingSum, fence: Fence | undefined): Promise<void> {
    const { store, blobs, batches, policy, task } = this.#context;
    const { ctx } = waiting;
    if (waiting.kind === 'spoilt') {
      granted(await batches.step(ctx, (found) => Sums.recordQuarantine(found, waiting.why, []), { fence }));
      return;
    }
    const batch = await batches.find(ctx);
    if (batch === undefined) throw new Error('an opened sum without its batch');
    const window = batch.rules.version; // all its uploads are of one
    const sums = [...(await statisticsSums(blobs, ctx, policy.dimension))];
    await store.addWindowSum({ ctx, task, window, devices: batch.users.length, sums }, fence);
    granted(await batches.step(ctx, (found) => Sums.recordIncluded(found, window), { fence }));
  }

  /** For the gauges of this node. */
  async look(): Promise<void> {
    const { store, task } = this.#context;
    const last = await store.lastWindow(task);
    this.newest = last === undefined ? undefined : (await this.from(last))[0];
  }

  /** From this window on, also those of which all reports were lost. */
  async from(first: number): Promise<readonly WindowResult[]> {
    const { store, task, policy } = this.#context;
    const statistics = this.#statistics;
    const { windowMs } = statistics;
    const [found, lost] = [await store.windowSums(task, first), await store.lostReports(task, first)];
    const windows = [...new Set([...found.keys(), ...lost.keys()])].sort((a, b) => a - b);
    return windows.map((window): WindowResult => {
      const sums = found.get(window);
      return {
        window,
        from: window * windowMs,
        to: (window + 1) * windowMs,
        isOver: this.#ends.isOver(window),
        devices: sums?.devices ?? 0,
        lost: lost.get(window) ?? 0,
        ...(sums === undefined
          ? { why: `no batch of at least ${policy.minimum} reports was opened`, fields: [] }
          : { fields: fieldResults({ ...policy, statistics }, sums) }),
      };
    });
  }

  /** The last ones. */
  async last(count: number): Promise<readonly WindowResult[]> {
    const { store, task } = this.#context;
    const newest = (await store.lastWindow(task)) ?? 0;
    return (await this.from(Math.max(0, newest - count + 1))).slice(-count);
  }
}
