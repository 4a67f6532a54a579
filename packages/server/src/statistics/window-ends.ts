/** The end of a window: from then on its batches take what there is, and too few reports are given up. */
import type { StatisticsPolicy } from '@basa/protocol';
import type { Coming } from '../shots/batcher.ts';

/** The time after its end in which reports of a window still come: a quarter of it, and at most this. */
const GRACE_MS = 60_000;

export class WindowEnds implements Coming {
  readonly #statistics: StatisticsPolicy;
  readonly #clock: () => number;

  constructor(statistics: StatisticsPolicy, clock: () => number) {
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
