/** Places to train in, and the line of devices that wait for one. */
import { type Crowd, MAX_AHEAD, type TaskId } from '@basa/protocol';
import { column, type SqlDatabase, type SqlSession } from '@basa/service';
import { type AdmissionTicket, hasPlace, type LockedTicket } from './ticket.ts';

export interface PlaceWish {
  /** The version that the device will train on, as far as it is known. */
  readonly version: number;
  /** The duration of the place; `isIdle` if the device was just found to have left one unused. */
  leaseMs(isIdle: boolean): number;
  /**
   * Returns a place, or the time for which the device stays in the line (0 if it is not in it). It only computes, so it
   * may be called again.
   */
  decide(crowd: Crowd): 'place' | { readonly keptMs: number };
}

export interface Placed {
  /** The remaining time of the place; undefined if the device got none. */
  readonly leftMs: number | undefined;
  readonly underWay: number;
  /** The number of places that lapsed since the last request. */
  readonly lapsed: number;
  /** The device left its last place unused, which counts against it from now on. */
  readonly isIdle: boolean;
}

export interface PlaceCount extends Pick<Crowd, 'underWay' | 'waiting'> {
  /** Devices with a place by the version that they train on. */
  readonly byVersion: ReadonlyMap<number, number>;
}

/**
 * The number of devices with a place, of places whose end is not counted yet, of devices in the line, of devices before a given number, and
 * the last number.
 */
const CROWD = `SELECT
  (SELECT COUNT(*) FROM tickets WHERE task = ? AND ends_at > ?) AS living,
  (SELECT COUNT(*) FROM tickets WHERE task = ? AND ends_at <= ? AND has_lapsed = 0) AS lapsed,
  (SELECT COUNT(*) FROM (SELECT 1 FROM tickets WHERE task = ? AND number > 0 AND kept_until > ? LIMIT ${MAX_AHEAD}) AS line) AS waiting,
  (SELECT COUNT(*) FROM (SELECT 1 FROM tickets WHERE task = ? AND number < ? AND kept_until > ? LIMIT ${MAX_AHEAD}) AS line) AS ahead,
  (SELECT COALESCE(MAX(number), 0) FROM tickets WHERE task = ?) AS last_number`;
const NOTE_LAPSED = 'UPDATE tickets SET has_lapsed = 1 WHERE task = ? AND ends_at <= ? AND has_lapsed = 0';
const BY_VERSION = 'SELECT version, COUNT(*) AS found FROM tickets WHERE task = ? AND ends_at > ? GROUP BY version';
const NOTE_IDLE = 'INSERT INTO idle_places (usr, task, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';

/**
 * Returns the device's current place, or a new one if `decide` grants it, and its updated ticket.
 *
 * A place that ends without an update is remembered. It counts as idle only if its device then asks to train again. A slow device comes
 * with its update instead, which shows that the place was used.
 */
export async function takePlace(
  locked: LockedTicket,
  { version, leaseMs, decide }: PlaceWish,
): Promise<Placed & { readonly ticket: AdmissionTicket }> {
  const { query, task, user, at, ticket } = locked;
  const { endsAt, inLine } = ticket;
  const number = inLine !== undefined && inLine.until > at ? inLine.number : undefined;
  const { lapsed, underWay, lastNumber, ...line } = await crowdOf(locked, task, at, number);
  if (lapsed > 0) await query(NOTE_LAPSED, task, at);
  if (endsAt !== undefined && hasPlace(ticket, at))
    return { ticket, leftMs: endsAt - at, underWay, lapsed, isIdle: false };
  const isIdle = endsAt !== undefined;
  if (isIdle) await query(NOTE_IDLE, user, task, Math.round(endsAt));
  const left = isIdle ? { ...ticket, endsAt: undefined } : ticket;
  const decision = decide({ underWay, ...line });
  if (decision === 'place') {
    const leftMs = Math.round(leaseMs(isIdle));
    const placed = { ...left, endsAt: at + leftMs, hasLapsed: false, version, inLine: undefined };
    return { ticket: placed, leftMs, underWay: underWay + 1, lapsed, isIdle };
  }
  const none = { leftMs: undefined, underWay, lapsed, isIdle };
  const until = at + Math.round(decision.keptMs);
  if (until <= at) return { ticket: left, ...none };
  return { ticket: { ...left, inLine: { number: number ?? 1 + lastNumber, until } }, ...none };
}

export async function countPlaces(database: SqlDatabase, task: TaskId): Promise<PlaceCount> {
  const now = await database.now();
  const rows = await database.query(BY_VERSION, task, now);
  const byVersion = new Map(rows.map((row) => [column.number(row, 'version'), column.number(row, 'found')]));
  const underWay = [...byVersion.values()].reduce((sum, count) => sum + count, 0);
  return { underWay, byVersion, waiting: (await crowdOf(database, task, now)).waiting };
}

/** For a device that has no number yet, everyone in the line is ahead. */
async function crowdOf(
  { query }: Pick<SqlSession, 'query'>,
  task: TaskId,
  at: number,
  number: number = Number.MAX_SAFE_INTEGER,
) {
  const [row = {}] = await query(CROWD, task, at, task, at, task, at, task, number, at, task);
  return {
    underWay: column.number(row, 'living'),
    lapsed: column.number(row, 'lapsed'),
    waiting: column.number(row, 'waiting'),
    ahead: column.number(row, 'ahead'),
    lastNumber: column.number(row, 'last_number'),
  };
}
