/** The time at which a device that found no place should ask again: places requested before it over the rate at which they become free. */

/** The time over which freed places are averaged. */
const MEMORY_MS = 30_000;
const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 60_000;
/** No device is sent away for longer than all waiting ones take to ask at this pace, so that a free place is found soon. */
const ASKS_PER_MS = 0.05;
const SOON_MS = 1_000;

/** The line is counted up to this length: by then the wait has its maximum. */
export const MAX_AHEAD = 3_000;

/** The places of a task as a device finds them. */
export interface Crowd {
  /** Devices with a place and no slot yet. */
  readonly underWay: number;
  /** Devices that have waited longer than the asking device, and are expected to come back. */
  readonly ahead: number;
  readonly waiting: number;
}

export class ComeBack {
  readonly #freed = new Decaying(MEMORY_MS);

  freed(places: number, now: number): void {
    this.#freed.add(places, now);
  }

  /**
   * `jitter` in [0, 1) spreads devices that were told at the same time. A device comes early rather than late: a free
   * place is kept for it.
   */
  afterMs({ ahead, waiting }: Pick<Crowd, 'ahead' | 'waiting'>, now: number, jitter: number): number {
    const rate = this.#freed.rateAt(now);
    const expected = rate > 0 ? (1 + ahead) / rate : SOON_MS;
    const most = Math.min(MAX_RETRY_MS, Math.max(SOON_MS, waiting / ASKS_PER_MS));
    return Math.round(Math.min(most, Math.max(MIN_RETRY_MS, expected)) * (0.5 + jitter / 2));
  }
}

/** The time for which a device that was told to come back keeps its place in the line. */
export function keptMs(retryAfterMs: number): number {
  return 1.5 * retryAfterMs + SOON_MS;
}

/** Events per millisecond, the older ones counting less; accurate from the first event on. */
class Decaying {
  readonly #memoryMs: number;
  #sum = 0;
  #at = 0;
  #since: number | undefined;

  constructor(memoryMs: number) {
    this.#memoryMs = memoryMs;
  }

  add(count: number, now: number): void {
    if (count === 0) return;
    this.#since ??= now;
    this.#sum = this.#sumAt(now) + count;
    this.#at = now;
  }

  /** 0 before the first event. */
  rateAt(now: number): number {
    if (this.#since === undefined) return 0;
    const seenMs = this.#memoryMs * (1 - Math.exp(-(now - this.#since) / this.#memoryMs));
    return this.#sumAt(now) / Math.max(1, seenMs);
  }

  #sumAt(now: number): number {
    return this.#sum * Math.exp(-(now - this.#at) / this.#memoryMs);
  }
}
