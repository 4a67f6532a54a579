/** Work that runs once at a time. A request while it runs makes it run once more, because the first run may miss new data. */

export class OneAtATime {
  readonly #work: () => Promise<void>;
  #last: Promise<void> = Promise.resolve();
  /** Requested, and not begun. */
  #next: Promise<void> | undefined;

  /** `work` never rejects. */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves when everything that is new now has been processed. */
  run(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      return this.#work();
    });
    this.#last = this.#next;
    return this.#last;
  }

  /** Waits for work under way. */
  settle(): Promise<void> {
    return this.#last;
  }
}
