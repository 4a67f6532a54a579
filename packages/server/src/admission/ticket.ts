/**
 * A ticket holds everything that a device gets when it may enter. A device has one ticket per task.
 *
 *     a number in the line --> a place to train in --comes with its update--> a seat in a buffer --deposit--> used up
 *                                  \--lapses, or is given back--> unused, until its device deposits or asks again
 *
 * A lost ticket does no harm. Only the deposit counts, and its transaction removes the ticket.
 */
import type { Ctx, TaskId, UserId } from '@basa/protocol';
import { column, type Row, type SqlSession } from '@basa/service';

export interface AdmissionTicket {
  /** The time until which the device may train: its place. It stays after that, as an unused one. */
  readonly endsAt?: number | undefined;
  /** Its end has been counted. */
  readonly hasLapsed: boolean;
  /** The version that the device trains on, as far as it is known. */
  readonly version: number;
  /** It came with an update when it got its place. */
  readonly isForSeat: boolean;
  /** The buffer in which it may deposit. */
  readonly seat?: { readonly ctx: Ctx; readonly until: number } | undefined;
  /** Its number in the line for a place. */
  readonly inLine?: { readonly number: number; readonly until: number } | undefined;
}

/** A ticket while its task is locked, so that no other device enters. */
export interface LockedTicket extends Pick<SqlSession, 'query'> {
  readonly task: TaskId;
  readonly user: UserId;
  /** The time at which the lock was obtained. */
  readonly at: number;
  readonly ticket: AdmissionTicket;
}

const MINE = 'SELECT * FROM tickets WHERE task = ? AND usr = ?';
const KEEP = `INSERT INTO tickets (task, usr, ends_at, has_lapsed, for_seat, version, ctx, seat_until, number, kept_until)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (task, usr) DO UPDATE SET ends_at = excluded.ends_at,
  has_lapsed = excluded.has_lapsed, for_seat = excluded.for_seat, version = excluded.version, ctx = excluded.ctx,
  seat_until = excluded.seat_until, number = excluded.number, kept_until = excluded.kept_until`;

/** Returns an empty ticket if the device has no ticket. */
export async function readTicket({ query }: Pick<SqlSession, 'query'>, task: TaskId, user: UserId) {
  const [row] = await query(MINE, task, user);
  return row === undefined ? { version: 0, isForSeat: false, hasLapsed: false } : ticketOf(row);
}

export function hasPlace({ endsAt }: AdmissionTicket, now: number): boolean {
  return endsAt !== undefined && endsAt > now;
}

/** Writes the new state of the ticket. */
export async function keepTicket(
  { query, task, user, ticket: before }: LockedTicket,
  ticket: AdmissionTicket,
): Promise<void> {
  if (ticket === before) return;
  const { endsAt, hasLapsed, isForSeat, version, seat, inLine } = ticket;
  if (endsAt === undefined && seat === undefined && inLine === undefined) {
    await query('DELETE FROM tickets WHERE task = ? AND usr = ?', task, user);
    return;
  }
  const place = [endsAt ?? null, hasLapsed ? 1 : 0, isForSeat ? 1 : 0, version];
  const rest = [seat?.ctx ?? null, seat?.until ?? null, inLine?.number ?? null, inLine?.until ?? null];
  await query(KEEP, task, user, ...place, ...rest);
}

function ticketOf(row: Row): AdmissionTicket {
  const ctx = column.optional(row, 'ctx', column.bytes);
  const number = column.optional(row, 'number', column.number);
  return {
    endsAt: column.optional(row, 'ends_at', column.number),
    hasLapsed: column.number(row, 'has_lapsed') === 1,
    version: column.number(row, 'version'),
    isForSeat: column.number(row, 'for_seat') === 1,
    seat: ctx && { ctx: ctx as Ctx, until: column.number(row, 'seat_until') },
    inLine: number === undefined ? undefined : { number, until: column.number(row, 'kept_until') },
  };
}
