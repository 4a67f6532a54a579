/** Which signed requests were received lately: two generations of short names, so that old ones go all at once. */

export interface SeenNoncesOptions {
  /** How long a name is remembered at least; at most twice that. */
  readonly windowMs: number;
  /** The most names in memory. */
  readonly most: number;
}

export class SeenNonces {
  readonly #windowMs: number;
  readonly #most: number;
  #current = new Set<string>();
  #previous = new Set<string>();
  #turnsAt = Number.NEGATIVE_INFINITY;

  constructor({ windowMs, most }: SeenNoncesOptions) {
    this.#windowMs = windowMs;
    this.#most = most;
  }

  /** Remembers a name. `full` says that no more can be remembered now: to forget one would let it be replayed. */
  add(name: string, now: number): 'new' | 'seen' | 'full' {
    this.#turn(now);
    if (this.#current.has(name) || this.#previous.has(name)) return 'seen';
    if (this.#current.size + this.#previous.size >= this.#most) return 'full';
    this.#current.add(name);
    return 'new';
  }

  #turn(now: number): void {
    if (now < this.#turnsAt) return;
    const isLongQuiet = now >= this.#turnsAt + this.#windowMs;
    this.#previous = isLongQuiet ? new Set() : this.#current;
    this.#current = new Set();
    this.#turnsAt = now + this.#windowMs;
  }
}
