/**
 * Users that wait for a place, the longest waiting first. A free place is for the first of them, not for the next that asks: a user
 * that asks all the time gets nothing by it. One that does not come back in time is the last.
 */
import { MAX_AHEAD } from '@basa/protocol';

const MAX_WAITING = 100_000;

export class WaitingList {
  /** Until when each is expected back, in the order in which they came. */
  readonly #untils = new Map<string, number>();

  /** How many wait, perhaps with some that did not come back in time. */
  get size(): number {
    return this.#untils.size;
  }

  /** How many wait. */
  sizeAt(now: number): number {
    for (const [user, until] of this.#untils) if (until <= now) this.#untils.delete(user);
    return this.#untils.size;
  }

  /** How many have waited longer; for a user that is not in the line, everybody that waits. */
  aheadOf(user: string, now: number): number {
    let ahead = 0;
    for (const [other, until] of this.#untils) {
      if (until <= now) this.#untils.delete(other);
      else if (other === user || ahead === MAX_AHEAD) return ahead;
      else ahead++;
    }
    return ahead;
  }

  /** It is expected back until then; one that is not in the line is the last. */
  stay(user: string, until: number, now: number): void {
    if ((this.#untils.get(user) ?? until) <= now) this.#untils.delete(user);
    if (this.#untils.size < MAX_WAITING || this.#untils.has(user)) this.#untils.set(user, until);
  }

  /** It got a place, or needs none. */
  leave(user: string): void {
    this.#untils.delete(user);
  }
}
