/** A resource with one or more servers and one queue, first come first served: the authority, or a pool that opens sums. */

export class Station {
  /** The time at which each server is free again. */
  readonly #free: number[];
  #busySeconds = 0;

  constructor(servers = 1) {
    if (!Number.isInteger(servers) || servers < 1)
      throw new RangeError(`a station has at least one server, got ${servers}`);
    this.#free = new Array<number>(servers).fill(0);
  }

  /** Returns the time at which work that arrives at `time` is done. Calls come in the order of their times. */
  serve(time: number, seconds: number): number {
    let first = 0;
    for (let n = 1; n < this.#free.length; n++)
      if ((this.#free[n] as number) < (this.#free[first] as number)) first = n;
    const end = Math.max(time, this.#free[first] as number) + seconds;
    this.#free[first] = end;
    this.#busySeconds += seconds;
    return end;
  }

  /** The share of its servers' time that was busy, up to `time`. */
  utilisation(time: number): number {
    return time > 0 ? Math.min(1, this.#busySeconds / (time * this.#free.length)) : 0;
  }
}
