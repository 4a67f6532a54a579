/** The time of the next try after a failure: twice the last wait, up to a bound. */

export interface BackoffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Limits for requests to authorities. */
const LIMITS: BackoffLimits = { firstMs: 500, longestMs: 15_000 };

interface Wait {
  readonly ms: number;
  readonly from: number;
}

export class Backoff {
  readonly #clock: () => number;
  readonly #limits: BackoffLimits;
  readonly #waits = new Map<string, Wait>();

  constructor(clock: () => number, limits = LIMITS) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** A clock that was set back delays nothing. */
  isDue(name: string): boolean {
    const wait = this.#waits.get(name);
    const waitedMs = wait === undefined ? 0 : this.#clock() - wait.from;
    return wait === undefined || waitedMs >= wait.ms || waitedMs < 0;
  }

  /** The time of its last failure; undefined if it has not failed. */
  failedAt(name: string): number | undefined {
    return this.#waits.get(name)?.from;
  }

  failed(name: string): void {
    const { firstMs, longestMs } = this.#limits;
    const before = this.#waits.get(name);
    const ms = before === undefined ? firstMs : Math.min(2 * before.ms, longestMs);
    this.#waits.set(name, { ms, from: this.#clock() });
  }

  /** It succeeded, or is not tried any more. */
  over(name: string): void {
    this.#waits.delete(name);
  }

  /** Forgets all others. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#waits.keys()) if (!names.has(name)) this.#waits.delete(name);
  }
}
