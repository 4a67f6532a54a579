/**
 * A ticket holds everything that a device gets when it may train. A device has one ticket per task.
 *
 *     a number in the line --> a place to train in --comes with its update--> used up
 *                                  \--lapses, or is given back--> unused, until its device gives an update or asks again
 *
 * A lost ticket does no harm. Only the upload counts.
 */
import type { TaskId, UserId } from '@basa/protocol';
import { column, type Row, type SqlSession } from '@basa/service';
export interface AdmissionTicket {
  /** The time until which the device may train: its place. It stays after that, as an unused one. */
  readonly endsAt?: number | undefined;
  /** Its end has been counted. */
  readonly hasLapsed: boolean;
  /** The version that the device trains on, as far as it is known. */
  readonly version: number;
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
const KEEP = `INSERT INTO tickets (task, usr, ends_at, has_lapsed, version, number, kept_until)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (task, usr) DO UPDATE SET ends_at = excluded.ends_at,
  has_lapsed = excluded.has_lapsed, version = excluded.version, number = excluded.number, kept_until = excluded.kept_until`;

/** Returns an empty ticket if the device has no ticket. */
export async function readTicket({ query }: Pick<SqlSession, 'query'>, task: TaskId, user: UserId) {
  const [row] = await query(MINE, task, user);
  return row === undefined ? { version: 0, hasLapsed: false } : ticketOf(row);
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
  const { endsAt, hasLapsed, version, inLine } = ticket;
  if (endsAt === undefined && inLine === undefined) {
    await query('DELETE FROM tickets WHERE task = ? AND usr = ?', task, user);
    return;
  }
  const place = [endsAt ?? null, hasLapsed ? 1 : 0, version];
  await query(KEEP, task, user, ...place, inLine?.number ?? null, inLine?.until ?? null);
}

function ticketOf(row: Row): AdmissionTicket {
  const number = column.optional(row, 'number', column.number);
  return {
    endsAt: column.optional(row, 'ends_at', column.number),
    hasLapsed: column.number(row, 'has_lapsed') === 1,
    version: column.number(row, 'version'),
    inLine: number === undefined ? undefined : { number, until: column.number(row, 'kept_until') },
  };
}
