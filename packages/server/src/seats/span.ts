/** How long devices take for one part of their way, and after how long one that has not come is late. */
import { toHex } from '@basa/masking';
import type { UserId } from '@basa/protocol';
import { Samples } from './samples.ts';

/** A device is late after MARGIN times what nearly all devices need. */
const MARGIN = 3;
const NEARLY_ALL = 0.9;
export const MIN_LATE_MS = 5_000;
const MAX_REMEMBERED = 10_000;
/** Few, for a first buffer must not wait for its drop-outs: a device that is taken for late loses nothing. */
const MIN_SAMPLES = 2;

export class Span {
  readonly #times = new Samples(MIN_SAMPLES);
  readonly #begun = new Map<string, number>();
  readonly #ended = new Set<string>();

  begin(user: UserId, now: number): void {
    this.#begun.set(toHex(user), now);
    const [oldest] = this.#begun.keys();
    if (oldest !== undefined && this.#begun.size > MAX_REMEMBERED) this.#begun.delete(oldest);
  }

  has(user: UserId): boolean {
    return this.#begun.has(toHex(user));
  }

  end(user: UserId, now: number): void {
    const since = this.#begun.get(toHex(user));
    if (since !== undefined) this.#times.add(now - since);
    this.forget(user);
    this.#ended.add(toHex(user));
    const [oldest] = this.#ended;
    if (oldest !== undefined && this.#ended.size > MAX_REMEMBERED) this.#ended.delete(oldest);
  }

  /** Whether the device has come to the end of this part lately. */
  hasEnded(user: UserId): boolean {
    return this.#ended.has(toHex(user));
  }

  forget(user: UserId): void {
    this.#begun.delete(toHex(user));
  }

  /** Whether enough is known to say when a device is late. */
  get isKnown(): boolean {
    return this.#times.quantile(NEARLY_ALL) !== undefined;
  }

  /** At most `maxMs`, which it also is while little is known. */
  lateMs(maxMs: number): number {
    const usual = this.#times.quantile(NEARLY_ALL);
    return usual === undefined ? maxMs : Math.min(maxMs, Math.max(MIN_LATE_MS, MARGIN * usual));
  }
}
