/** The tickets of devices, each change under the lock of its task. */
import type { TaskId, UserId } from '@basa/protocol';
import type { SqlDatabase } from '@basa/service';
import { countPlaces, type PlaceCount, type Placed, type PlaceWish, takePlace } from './places.ts';
import { hasPlace, keepTicket, type LockedTicket, readTicket } from './ticket.ts';

/** `returned`: by the device. `used`: by its update, or by one that came too late. */
export type PlaceEnd = 'used' | 'returned';

const FORGET = 'DELETE FROM tickets WHERE (ends_at IS NULL OR ends_at < ?) AND (kept_until IS NULL OR kept_until <= ?)';

export class Tickets {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** For a device that has not trained yet. */
  ask(task: TaskId, user: UserId, wish: PlaceWish): Promise<Placed> {
    return this.#locked(task, user, async (locked) => {
      const placed = await takePlace(locked, wish);
      await keepTicket(locked, placed.ticket);
      return placed;
    });
  }

  async hasPlace(task: TaskId, user: UserId): Promise<boolean> {
    return hasPlace(await readTicket(this.#database, task, user), await this.#database.now());
  }

  /** Ends the place of a device. Returns true if it had a living one. */
  endPlace(task: TaskId, user: UserId, how: PlaceEnd): Promise<boolean> {
    return this.#locked(task, user, async (locked) => {
      const { ticket, at } = locked;
      const wasLiving = hasPlace(ticket, at);
      if (how === 'used') await keepTicket(locked, { ...ticket, endsAt: undefined, inLine: undefined });
      else if (wasLiving) await keepTicket(locked, { ...ticket, endsAt: at, hasLapsed: true });
      return wasLiving;
    });
  }

  count(task: TaskId): Promise<PlaceCount> {
    return countPlaces(this.#database, task);
  }

  /** Forgets tickets that hold nothing any more but a place that was left unused before this time. */
  async forget(unusedBefore: number): Promise<void> {
    const now = await this.#database.now();
    await this.#database.query(FORGET, unusedBefore, now);
  }

  async forgetAll(): Promise<void> {
    await this.#database.query('DELETE FROM tickets');
  }

  #locked<Result>(task: TaskId, user: UserId, work: (locked: LockedTicket) => Promise<Result>): Promise<Result> {
    const lock = `SELECT task FROM tasks WHERE task = ?${this.#database.dialect.forUpdate}`;
    return this.#database.transaction(
      async ({ query, now }) => {
        await query(lock, task);
        const at = await now();
        return work({ query, task, user, at, ticket: await readTicket({ query }, task, user) });
      },
      { mayBeLost: true },
    );
  }
}
