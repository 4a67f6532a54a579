/** The time that devices take for one part of their way, and the time after which a missing one is late. */
import { toHex } from '@basa/masking';
import type { UserId } from '@basa/protocol';
import { remember } from './recent.ts';

const MAX_SAMPLES = 256;

/** The newest durations, and the time within which nearly all of them ended. */
export class Samples {
  readonly #minimum: number;
  readonly #values: number[] = [];
  #next = 0;

  /** Fewer than `minimum` samples do not show the slowest. */
  constructor(minimum: number) {
    this.#minimum = minimum;
  }

  add(value: number): void {
    this.#values[this.#next] = value;
    this.#next = (this.#next + 1) % MAX_SAMPLES;
  }

  /** Undefined while there are too few. */
  quantile(share: number): number | undefined {
    const { length } = this.#values;
    if (length < this.#minimum) return undefined;
    return [...this.#values].sort((a, b) => a - b)[Math.min(length - 1, Math.floor(share * length))];
  }
}

/** A device is late after MARGIN times the time that nearly all devices need. */
const MARGIN = 3;
const NEARLY_ALL = 0.9;
const MIN_LATE_MS = 5_000;
/** Few, because a first buffer must not wait for its drop-outs: a device that is considered late loses nothing. */
const MIN_SAMPLES = 2;

export class Span {
  readonly #times: Samples;
  readonly #begun = new Map<string, number>();
  readonly #ended = new Map<string, true>();

  constructor(minimum = MIN_SAMPLES) {
    this.#times = new Samples(minimum);
  }

  begin(user: UserId, now: number): void {
    remember(this.#begun, toHex(user), now);
  }

  has(user: UserId): boolean {
    return this.#begun.has(toHex(user));
  }

  end(user: UserId, now: number): void {
    const since = this.#begun.get(toHex(user));
    if (since !== undefined) this.#times.add(now - since);
    this.forget(user);
    remember(this.#ended, toHex(user), true);
  }

  forget(user: UserId): void {
    this.#begun.delete(toHex(user));
  }

  quantile(share: number): number | undefined {
    return this.#times.quantile(share);
  }

  /** At most `maxMs`, which it also is while little is known. */
  lateMs(maxMs: number): number {
    const usual = this.#times.quantile(NEARLY_ALL);
    return usual === undefined ? maxMs : Math.min(maxMs, Math.max(MIN_LATE_MS, MARGIN * usual));
  }

  /**
   * The time that a place lasts before its update. A device that has used one gets three times the time that nearly all devices need, a
   * new one half of that, and before anything is known an eighth of the longest lease. Each place that a device recently left
   * unused halves it, so that an idle device holds a place for two first leases in total, and then for seconds.
   *
   * A short lease does not harm an honest device: its place lapses while it trains, but it still comes with its update.
   */
  leaseMs(user: UserId, unused: number, longestMs: number): number {
    const isKnown = this.#times.quantile(NEARLY_ALL) !== undefined;
    const share = isKnown ? (this.#ended.has(toHex(user)) ? 1 : NEW_SHARE) : FIRST_SHARE;
    return Math.min(longestMs, Math.max(MIN_LATE_MS, (this.lateMs(longestMs) * share) / 2 ** unused));
  }
}

const FIRST_SHARE = 1 / 8;
const NEW_SHARE = 1 / 2;
