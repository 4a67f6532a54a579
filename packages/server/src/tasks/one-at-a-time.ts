/** Work that is done once at a time. Whoever asks for it while it is done has it done once more: what is new may not be in the first. */

export class OneAtATime {
  readonly #work: () => Promise<void>;
  #last: Promise<void> = Promise.resolve();
  /** Asked for, and not begun. */
  #next: Promise<void> | undefined;

  /** `work` never rejects. */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves when what is new now is dealt with. */
  run(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      return this.#work();
    });
    this.#last = this.#next;
    return this.#last;
  }

  /** Waits for what is under way. */
  settle(): Promise<void> {
    return this.#last;
  }
}
