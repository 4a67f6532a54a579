/**
 * The windows of a statistics task, in the place of the versions of a model: each follows from the clock, and none is stored. An upload names
 * its window as others name a model.
 */
import { equalBytes } from '@basa/masking';
import { type Ctx, millis, modelNameOf, type StatisticsPolicy, windowAt, windowStatement } from '@basa/protocol';
import { ModelKeeper, type ModelKeeperOptions } from '../closing/model-keeper.ts';
import type { StoredModel } from '../store/models.ts';

export interface WindowKeeperOptions extends ModelKeeperOptions {
  readonly statistics: StatisticsPolicy;
  /** The clock of this node. */
  readonly clock: () => number;
}

export class WindowKeeper extends ModelKeeper {
  readonly #options: WindowKeeperOptions;

  constructor(options: WindowKeeperOptions) {
    super(options);
    this.#options = options;
  }

  override get newest(): StoredModel {
    const { statistics, clock } = this.#options;
    return this.#window(windowAt(statistics, millis(clock())));
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
    const { maxStaleness } = this.#options.read.policy;
    for (let window = version + 1; window >= Math.max(0, version - maxStaleness - 1); window--) {
      const one = this.#window(window);
      if (equalBytes(one.name, name)) return one;
    }
    return undefined;
  }

  override async of(ctx: Ctx): Promise<StoredModel | undefined> {
    const window = await this.#options.store.windowOf(ctx);
    return window === undefined ? undefined : this.#window(window);
  }

  override async isRepeated(): Promise<boolean> {
    return false;
  }

  #window(window: number): StoredModel {
    const { task, statistics, ports } = this.#options;
    const statement = windowStatement(task, statistics, window);
    const name = modelNameOf(ports.suite, statement);
    return { ...statement, name, blobKey: '', madeAt: window * statistics.windowMs, accepted: 0, dropped: 0 };
  }
}
