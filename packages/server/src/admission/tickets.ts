/** The tickets of all devices, in the database of one node or of several. Those of a task are given one after the other. */
import { equalBytes } from '@basa/masking';
import type { Ctx, TaskId, UserId } from '@basa/protocol';
import { column, type Row, type SqlDatabase } from '@basa/service';
import { FORGET_DRAW } from '../store/buffers.ts';
import { countPlaces, type PlaceCount, type Placed, type PlaceWish, takePlace } from './places.ts';
import { type KnownDescriptors, type SeatWish, takeSeat } from './seats.ts';
import { hasPlace, keepTicket, type LockedTicket, readTicket } from './ticket.ts';

/** A request for a seat for an update, and before it a place, unless there is room without one. */
export interface EntryWish extends Omit<SeatWish, 'only'> {
  readonly place?: PlaceWish | undefined;
  /** The number of seats that should stay free, so that the next devices find a seat immediately. */
  readonly seatsAhead: number;
  readonly freshNonce: Uint8Array;
}

export type Seated =
  | {
      readonly kind: 'seated';
      readonly ctx: Ctx;
      /** The seats of the buffer, this one included. */
      readonly seats: number;
      readonly deposits: number;
      /** Set if fewer seats are left than there should be: another buffer is drawn with it. */
      readonly nonce?: Uint8Array | undefined;
    }
  /** Every seat is taken: every node that has a buffer drawn uses this nonce. */
  | { readonly kind: 'needs-buffer'; readonly nonce: Uint8Array }
  /** There are seats, but none that this device may take now. */
  | { readonly kind: 'must-wait' }
  | { readonly kind: 'no-place' }
  | { readonly kind: 'not-running' };

/** `returned`: by the device. `refused`: the device may not use it now. `used`: by an update that came too late. */
export type PlaceEnd = 'used' | 'returned' | 'refused';

const FORGET = `DELETE FROM tickets WHERE (ends_at IS NULL OR ends_at < ?) AND (seat_until IS NULL OR seat_until <= ?)
  AND (kept_until IS NULL OR kept_until <= ?)`;

export class Tickets {
  readonly #database: SqlDatabase;
  readonly #descriptors: KnownDescriptors = new Map();

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** For a device that has not trained yet. */
  ask(task: TaskId, user: UserId, wish: PlaceWish): Promise<Placed> {
    return this.#locked(task, user, async (locked) => {
      const placed = await takePlace(locked, wish, false);
      await keepTicket(locked, placed.ticket);
      return placed;
    });
  }

  /** For a device with an update. `placed` is set if the device had no place and needed one. */
  enter(
    task: TaskId,
    user: UserId,
    { place, ...wish }: EntryWish,
  ): Promise<{ readonly seat: Seated; readonly placed?: Placed | undefined }> {
    return this.#locked(task, user, async (locked, row) => {
      if (row === undefined || column.text(row, 'state') !== 'running') return { seat: { kind: 'not-running' } };
      const needsPlace = place !== undefined && !hasPlace(locked.ticket, locked.at);
      const placed = needsPlace ? await takePlace(locked, place, true) : undefined;
      if (placed !== undefined && placed.leftMs === undefined) {
        await keepTicket(locked, placed.ticket);
        return { seat: { kind: 'no-place' }, placed };
      }
      const withPlace = { ...locked, ticket: placed?.ticket ?? locked.ticket };
      const { entry, ticket } = await takeSeat(withPlace, wish, this.#descriptors);
      await keepTicket(locked, ticket);
      if (entry.kind === 'must-wait') return { seat: entry, placed };
      const draw = () => nonceOf(locked, row, wish.freshNonce);
      if (entry.kind === 'needs-buffer') return { seat: { ...entry, nonce: await draw() }, placed };
      const nonce = entry.free < wish.seatsAhead ? await draw() : undefined;
      const { ctx, taken, deposited } = entry.buffer;
      const seats = taken - deposited + (entry.isNew ? 1 : 0);
      return { seat: { kind: 'seated', ctx, seats, deposits: deposited, nonce }, placed };
    });
  }

  /**
   * True if the device has a seat in the buffer, or takes a free seat now. Seats do not survive a restart, and a device should not lose its
   * buffer because of this.
   */
  async hasSeat(task: TaskId, user: UserId, ctx: Ctx, wish: Omit<SeatWish, 'version' | 'only'>): Promise<boolean> {
    const { seat } = await readTicket(this.#database, task, user);
    if (seat !== undefined && equalBytes(seat.ctx, ctx) && seat.until > (await this.#database.now())) return true;
    return this.#locked(task, user, async (locked) => {
      const { entry, ticket } = await takeSeat(locked, { ...wish, only: ctx }, this.#descriptors);
      await keepTicket(locked, ticket);
      return entry.kind === 'seated';
    });
  }

  async hasPlace(task: TaskId, user: UserId): Promise<boolean> {
    return hasPlace(await readTicket(this.#database, task, user), await this.#database.now());
  }

  /** Ends the place of a device without a deposit. Returns true if it had a living one. */
  endPlace(task: TaskId, user: UserId, how: PlaceEnd): Promise<boolean> {
    return this.#locked(task, user, async (locked) => {
      const { ticket, at } = locked;
      const wasLiving = hasPlace(ticket, at);
      const isForSeat = ticket.isForSeat && how === 'returned';
      if (how === 'used') await keepTicket(locked, { ...ticket, endsAt: undefined, inLine: undefined });
      else if (wasLiving) await keepTicket(locked, { ...ticket, endsAt: at, isForSeat, hasLapsed: true });
      return wasLiving;
    });
  }

  count(task: TaskId): Promise<PlaceCount> {
    return countPlaces(this.#database, task);
  }

  /** Forgets tickets that hold nothing any more but a place that was left unused before this time. */
  async forget(unusedBefore: number): Promise<void> {
    const now = await this.#database.now();
    await this.#database.query(FORGET, unusedBefore, now, now);
  }

  async forgetAll(): Promise<void> {
    await this.#database.query('DELETE FROM tickets');
  }

  /** Forgets a nonce whose buffer cannot be used. */
  async forgetDraw(task: TaskId, nonce: Uint8Array): Promise<void> {
    await this.#database.query(FORGET_DRAW, task, nonce);
  }

  /** `row`: the row of the task. */
  #locked<Result>(
    task: TaskId,
    user: UserId,
    work: (locked: LockedTicket, row: Row | undefined) => Promise<Result>,
  ): Promise<Result> {
    const lock = `SELECT state, draw_nonce FROM tasks WHERE task = ?${this.#database.dialect.forUpdate}`;
    return this.#database.transaction(
      async ({ query, now }) => {
        const [row] = await query(lock, task);
        const at = await now();
        return work({ query, task, user, at, ticket: await readTicket({ query }, task, user) }, row);
      },
      { mayBeLost: true },
    );
  }
}

/** The nonce of the draw that is under way, or that begins now. */
async function nonceOf({ query, task }: LockedTicket, row: Row, fresh: Uint8Array): Promise<Uint8Array> {
  const nonce = column.optional(row, 'draw_nonce', column.bytes);
  if (nonce === undefined) await query('UPDATE tasks SET draw_nonce = ? WHERE task = ?', fresh, task);
  return nonce ?? fresh;
}
