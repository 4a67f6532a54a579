/**
 * Devices that wait for a place, the longest waiting first. A free place is for the first of them, not for the next that asks: a device
 * that asks all the time gets nothing by it. One that does not come back in time has lost its turn.
 */

/** The line is counted no further: by then the wait is as long as it ever is. */
export const MAX_AHEAD = 3_000;
const MAX_WAITING = 100_000;

export class WaitingList {
  /** Until when each keeps its turn, in the order in which they came. */
  readonly #untils = new Map<string, number>();

  /** How many wait, perhaps with some that have lost their turn. */
  get size(): number {
    return this.#untils.size;
  }

  /** How many wait. */
  sizeAt(now: number): number {
    for (const [user, until] of this.#untils) if (until <= now) this.#untils.delete(user);
    return this.#untils.size;
  }

  /** How many have waited longer; for a device that has no turn, everybody that waits. */
  aheadOf(user: string, now: number): number {
    let ahead = 0;
    for (const [other, until] of this.#untils) {
      if (until <= now) this.#untils.delete(other);
      else if (other === user || ahead === MAX_AHEAD) return ahead;
      else ahead++;
    }
    return ahead;
  }

  /** It keeps its turn until then; one that has none gets the last. */
  stay(user: string, until: number, now: number): void {
    if ((this.#untils.get(user) ?? until) <= now) this.#untils.delete(user);
    if (this.#untils.size < MAX_WAITING || this.#untils.has(user)) this.#untils.set(user, until);
  }

  /** It got a place, or needs none. */
  leave(user: string): void {
    this.#untils.delete(user);
  }
}
