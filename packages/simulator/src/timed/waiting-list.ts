/**
 * Users that wait for a place, the longest waiting first. A free place goes to the first of them, not to the next that
 * asks: asking all the time gains nothing. A user that does not come back in time becomes the last.
 */
import { MAX_AHEAD } from '@basa/protocol';

const MAX_WAITING = 100_000;

export class WaitingList {
  /** The time until which each user is expected back, in the order in which they came. */
  readonly #untils = new Map<string, number>();

  /** The number of waiting users, possibly including some that did not come back in time. */
  get size(): number {
    return this.#untils.size;
  }

  /** The number of waiting users. */
  sizeAt(now: number): number {
    for (const [user, until] of this.#untils) if (until <= now) this.#untils.delete(user);
    return this.#untils.size;
  }

  /** The number of users that have waited longer; for a user that is not in the line, all that wait. */
  aheadOf(user: string, now: number): number {
    let ahead = 0;
    for (const [other, until] of this.#untils) {
      if (until <= now) this.#untils.delete(other);
      else if (other === user || ahead === MAX_AHEAD) return ahead;
      else ahead++;
    }
    return ahead;
  }

  /** Expects the user back until this time; a user that is not in the line becomes the last. */
  stay(user: string, until: number, now: number): void {
    if ((this.#untils.get(user) ?? until) <= now) this.#untils.delete(user);
    if (this.#untils.size < MAX_WAITING || this.#untils.has(user)) this.#untils.set(user, until);
  }

  /** The user got a place, or needs none any more. */
  leave(user: string): void {
    this.#untils.delete(user);
  }
}
