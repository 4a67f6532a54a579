/**
 * Different pieces of work, one after the other. Work that still waits is not queued again under the same name: otherwise a slow service
 * would be asked more and more often, and would become even slower.
 */
export class OneByOne {
  readonly #waiting = new Map<string, Promise<void>>();
  #last: Promise<void> = Promise.resolve();

  /** `work` never rejects. */
  run(name: string, work: () => Promise<void>): Promise<void> {
    const waiting = this.#waiting.get(name);
    if (waiting !== undefined) return waiting;
    this.#last = this.#last.then(() => {
      this.#waiting.delete(name);
      return work();
    });
    this.#waiting.set(name, this.#last);
    return this.#last;
  }

  /** Waits for work under way. */
  settle(): Promise<void> {
    return this.#last;
  }
}
