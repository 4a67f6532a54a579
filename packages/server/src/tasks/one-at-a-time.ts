/** Work that runs once at a time. A request while it runs makes it run once more, because the first run may miss new data. */
import { setTimeout as sleep } from 'node:timers/promises';

/** However long the work took. */
const LONGEST_REST_MS = 200;

export class OneAtATime {
  readonly #work: () => Promise<void>;
  readonly #restShare: number;
  #last: Promise<void> = Promise.resolve();
  /** Requested, but not started yet. */
  #next: Promise<void> | undefined;
  #restsUntil = 0;

  /**
   * `work` never rejects. `restShare`: after each run, the next one waits for this multiple of its duration, so that requests that arrive
   * close together share one run. After a quiet time, work starts immediately.
   */
  constructor(work: () => Promise<void>, { restShare = 0 }: { readonly restShare?: number } = {}) {
    this.#work = work;
    this.#restShare = restShare;
  }

  /** Resolves when everything that is new now has been processed. */
  run(): Promise<void> {
    this.#next ??= this.#last.then(() => this.#once());
    this.#last = this.#next;
    return this.#last;
  }

  /** Waits for work under way. */
  settle(): Promise<void> {
    return this.#last;
  }

  async #once(): Promise<void> {
    const restMs = this.#restsUntil - performance.now();
    if (restMs > 0) await sleep(restMs);
    this.#next = undefined;
    const began = performance.now();
    await this.#work();
    const ended = performance.now();
    this.#restsUntil = ended + Math.min(LONGEST_REST_MS, this.#restShare * (ended - began));
  }
}
