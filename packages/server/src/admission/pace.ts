/** How long places last: as long as nearly all devices need from their place to their update. */
import { toHex } from '@basa/masking';
import type { UserId } from '@basa/protocol';
import { remember } from './recent.ts';

const MAX_SAMPLES = 256;
/** Fewer do not show the slowest. */
const MIN_SAMPLES = 2;
/** A device is late after this many times the time that nearly all devices need. */
const MARGIN = 3;
const NEARLY_ALL = 0.9;
const MIN_LEASE_MS = 5_000;
/** The share of the longest lease before anything is known. */
const FIRST_SHARE = 1 / 8;

export class Pace {
  readonly #newest: number[] = [];
  #next = 0;
  readonly #begun = new Map<string, number>();

  begin(user: UserId, now: number): void {
    if (!this.#begun.has(toHex(user))) remember(this.#begun, toHex(user), now);
  }

  end(user: UserId, now: number): void {
    const since = this.#begun.get(toHex(user));
    if (since === undefined) return;
    this.#newest[this.#next] = now - since;
    this.#next = (this.#next + 1) % MAX_SAMPLES;
    this.forget(user);
  }

  forget(user: UserId): void {
    this.#begun.delete(toHex(user));
  }

  /** A short lease does not harm an honest device: its place lapses while it trains, but it still comes with its update. */
  leaseMs(longestMs: number): number {
    const { length } = this.#newest;
    const usual = [...this.#newest].sort((a, b) => a - b)[Math.min(length - 1, Math.floor(NEARLY_ALL * length))];
    const wantedMs = usual === undefined || length < MIN_SAMPLES ? FIRST_SHARE * longestMs : MARGIN * usual;
    return Math.round(Math.min(longestMs, Math.max(MIN_LEASE_MS, wantedMs)));
  }
}
