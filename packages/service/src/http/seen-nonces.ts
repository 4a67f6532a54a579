/** The signed requests that were received recently, as two generations of short names. A whole generation is dropped at a time. */

export interface SeenNoncesOptions {
  /** The time for which a name is remembered, unless there are too many; at most twice that. */
  readonly windowMs: number;
  /** The largest number of names in memory. */
  readonly most: number;
}

export class SeenNonces {
  readonly #windowMs: number;
  readonly #maxOfGeneration: number;
  #current = new Set<string>();
  #previous = new Set<string>();
  #turnsAt = Number.NEGATIVE_INFINITY;

  constructor({ windowMs, most }: SeenNoncesOptions) {
    this.#windowMs = windowMs;
    this.#maxOfGeneration = Math.max(1, Math.floor(most / 2));
  }

  has(name: string, now: number): boolean {
    if (now >= this.#turnsAt) this.#turn(now);
    return this.#current.has(name) || this.#previous.has(name);
  }

  /** If there are too many, the older half is forgotten early. A replay of those repeats a step that changes nothing. */
  add(name: string, now: number): void {
    if (now >= this.#turnsAt || this.#current.size >= this.#maxOfGeneration) this.#turn(now);
    this.#current.add(name);
  }

  #turn(now: number): void {
    const isLongQuiet = now >= this.#turnsAt + this.#windowMs;
    this.#previous = isLongQuiet ? new Set() : this.#current;
    this.#current = new Set();
    this.#turnsAt = now + this.#windowMs;
  }
}
