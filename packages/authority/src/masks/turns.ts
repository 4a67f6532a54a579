/** One work at a time. Tasks whose work waits take turns, so that one task with much work delays the others by one work at most. */

export class Turns {
  /** The task whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => Promise<void>)[]>();
  #isBusy = false;

  take<Result>(task: string, work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const own = this.#waiting.get(task) ?? [];
      own.push(() => work().then(resolve, reject));
      this.#waiting.set(task, own);
      if (!this.#isBusy) void this.#workOff();
    });
  }

  async #workOff(): Promise<void> {
    this.#isBusy = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) await next();
    this.#isBusy = false;
  }

  #next(): (() => Promise<void>) | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [task, works] = first;
    const next = works.shift();
    this.#waiting.delete(task);
    if (works.length > 0) this.#waiting.set(task, works);
    return next;
  }
}
