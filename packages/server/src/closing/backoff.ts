/** When what failed is tried again: after twice the time of the last wait, up to a bound. */

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

interface Wait {
  readonly ms: number;
  readonly from: number;
}

export class Backoff {
  readonly #clock: () => number;
  readonly #waits = new Map<string, Wait>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** A clock that was set back holds nobody up. */
  isDue(name: string): boolean {
    const wait = this.#waits.get(name);
    const waitedMs = wait === undefined ? 0 : this.#clock() - wait.from;
    return wait === undefined || waitedMs >= wait.ms || waitedMs < 0;
  }

  failed(name: string): void {
    const before = this.#waits.get(name)?.ms ?? FIRST_WAIT_MS / 2;
    this.#waits.set(name, { ms: Math.min(2 * before, LONGEST_WAIT_MS), from: this.#clock() });
  }

  /** It went on, or is not tried any more. */
  over(name: string): void {
    this.#waits.delete(name);
  }
}
