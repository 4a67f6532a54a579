/** A resource with some servers and one queue, first come first served: the authority, a pool that opens sums. */

export class Station {
  /** When each server is free again. */
  readonly #free: number[];
  #busySeconds = 0;

  constructor(servers = 1) {
    if (!Number.isInteger(servers) || servers < 1)
      throw new RangeError(`a station has at least one server, got ${servers}`);
    this.#free = new Array<number>(servers).fill(0);
  }

  /** When work that is brought at `time` is done. Calls come in the order of their times. */
  serve(time: number, seconds: number): number {
    let first = 0;
    for (let n = 1; n < this.#free.length; n++)
      if ((this.#free[n] as number) < (this.#free[first] as number)) first = n;
    const end = Math.max(time, this.#free[first] as number) + seconds;
    this.#free[first] = end;
    this.#busySeconds += seconds;
    return end;
  }

  /** Share of its servers' time that was work, up to `time`. */
  utilisation(time: number): number {
    return time > 0 ? Math.min(1, this.#busySeconds / (time * this.#free.length)) : 0;
  }
}
