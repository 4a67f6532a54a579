/** Who was told to come back, and when that makes sense: places asked for before it over the rate at which they come free. */

/** Freed places of about this long are averaged. */
const MEMORY_MS = 30_000;
const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 60_000;
/** Nobody is sent away for longer than it takes all that wait to ask at this pace: a free place is found soon. */
const ASKS_PER_MS = 0.05;
const SOON_MS = 1_000;
const MAX_WAITING = 100_000;

interface Waiting {
  readonly number: number;
  /** It is forgotten then: it should have come back long before. */
  readonly until: number;
}

export class WaitingList {
  readonly #waiting = new Map<string, Waiting>();
  #next = 0;
  readonly #freed = new Decaying(MEMORY_MS);

  /** How many wait. */
  sizeAt(now: number): number {
    this.#forget(now);
    return this.#waiting.size;
  }

  freed(places: number, now: number): void {
    this.#freed.add(places, now);
  }

  /** When to come back. Whoever asks again keeps its turn. `jitter` in [0, 1) spreads those that were told at once. */
  later(user: string, now: number, jitter: number): number {
    this.#forget(now);
    const number = this.#waiting.get(user)?.number ?? this.#next++;
    const [first] = this.#waiting.values();
    const ahead = 1 + Math.min(this.#waiting.size, number - (first?.number ?? number));
    const rate = this.#freed.rateAt(now);
    const expected = rate > 0 ? ahead / rate : SOON_MS;
    const most = Math.min(MAX_RETRY_MS, Math.max(SOON_MS, this.#waiting.size / ASKS_PER_MS));
    const retryAfterMs = Math.min(most, Math.max(MIN_RETRY_MS, expected)) * (0.75 + jitter / 2);
    if (this.#waiting.size < MAX_WAITING || this.#waiting.has(user))
      this.#waiting.set(user, { number, until: now + 2 * retryAfterMs + SOON_MS });
    return Math.round(retryAfterMs);
  }

  /** It got a place, or gave up. */
  leave(user: string): void {
    this.#waiting.delete(user);
  }

  #forget(now: number): void {
    for (const [user, { until }] of this.#waiting) {
      if (until > now) return;
      this.#waiting.delete(user);
    }
  }
}

/** Events a millisecond, the older ones counting less; right from the first event on. */
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
