/** Work that is done once at a time. Whoever asks for it while it is done has it done once more: what is new may not be in the first. */
import { setTimeout as sleep } from 'node:timers/promises';

/** However long the work took. */
const LONGEST_REST_MS = 200;

export class OneAtATime {
  readonly #work: () => Promise<void>;
  readonly #restShare: number;
  #last: Promise<void> = Promise.resolve();
  /** Asked for, and not begun. */
  #next: Promise<void> | undefined;
  #restsUntil = 0;

  /**
   * `work` never rejects. `restShare`: work is not begun again before this many times as long as it took have passed, so that what comes
   * close together is dealt with together. After a quiet time it begins at once.
   */
  constructor(work: () => Promise<void>, { restShare = 0 }: { readonly restShare?: number } = {}) {
    this.#work = work;
    this.#restShare = restShare;
  }

  /** Resolves when what is new now is dealt with. */
  run(): Promise<void> {
    this.#next ??= this.#last.then(() => this.#once());
    this.#last = this.#next;
    return this.#last;
  }

  /** Waits for what is under way. */
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
