/** The suspicions against the devices of a task, over SQL: judged in the transaction of the buffer's end, one sum after the other. */
import { fromHex, toHex } from '@basa/masking';
import {
  type Ctx,
  type FleetTrust,
  judgeStandings,
  LATELY,
  NEW_STANDING,
  STRONG_SUSPECT,
  type Standing,
  SUSPECT,
  standingAt,
  type TaskId,
  type UserId,
} from '@basa/protocol';
import { column, type Row, type SqlDatabase, type SqlSession, type SqlValue } from '@basa/service';
import { insertRows } from './insert-rows.ts';

/** The verdict on the sum of a buffer: written in the transaction of its end. */
export interface Verdict {
  readonly task: TaskId;
  /** Kmin. */
  readonly minimum: number;
  readonly users: readonly UserId[];
  readonly outcome: 'clean' | 'spoilt';
  /** The devices that were shown to have cheated. */
  readonly named: readonly UserId[];
}

export interface TaskSuspicions {
  /** The number of sums that were judged. */
  readonly sums: number;
  /** Counted over devices that took part recently; more than the minimum are not counted. */
  readonly trust: FleetTrust;
  /** The time at which the last sum was judged. */
  readonly lastAt: number;
  /** The mean time from one sum to the next; missing before the second. */
  readonly paceMs?: number;
  /** Suspects and devices that are suspended or banned, by their names in hex; all others are not listed. */
  readonly suspects: ReadonlyMap<string, Standing>;
}

const BEGIN = `INSERT INTO sums (task, judged, first_at, last_at, trusted, mild) VALUES (?, 0, 0, 0, 0, 0)
  ON CONFLICT (task) DO NOTHING`;
const OF_BUFFER = `SELECT * FROM suspicions WHERE task = ? AND usr IN
  (SELECT usr FROM deposits WHERE ctx = ? UNION SELECT usr FROM shots WHERE ctx = ?)`;
const COLUMNS = 'suspicions (task, usr, suspicion, spoilt, suspensions, suspended_until, banned, last_sum)';
const REPLACE = ` ON CONFLICT (task, usr) DO UPDATE SET suspicion = excluded.suspicion, spoilt = excluded.spoilt,
  suspensions = excluded.suspensions, suspended_until = excluded.suspended_until, banned = excluded.banned,
  last_sum = excluded.last_sum`;
const FREE = 'banned = 0 AND (suspended_until IS NULL OR suspended_until <= ?)';
const LATELY_SEEN = `SELECT COUNT(*) AS devices FROM suspicions WHERE task = ? AND last_sum > ? AND ${FREE}`;
const SUSPENDED = 'SELECT COUNT(*) AS devices FROM suspicions WHERE task = ? AND banned = 0 AND suspended_until > ?';
/** The count that is used if the sum was not spoilt. */
const NOBODY = { devices: 0, suspended: 0 };
/** Counts no more than necessary. */
const LESS_SUSPECTED = `SELECT usr FROM suspicions WHERE task = ? AND last_sum > ? AND banned = 0 AND suspicion < ?
  AND suspended_until IS NULL LIMIT ?`;
const WAS_SUSPENDED = `SELECT usr FROM suspicions WHERE task = ? AND usr = ? AND (suspended_until IS NOT NULL OR banned = 1)`;
const SUSPECTS = `SELECT * FROM suspicions WHERE task = ? AND (suspicion >= ? OR banned = 1)`;

export function suspicionTables(database: SqlDatabase) {
  return {
    suspicions: (task: TaskId): Promise<TaskSuspicions> => suspicionsOf(database, task),
    /** Returns whether the device was ever suspended or banned; the device is not told. */
    wasSuspended: async (task: TaskId, user: UserId): Promise<boolean> =>
      (await database.peek(WAS_SUSPENDED, task, user)).length > 0,
    /** Returns the new standing. */
    changeStanding: (task: TaskId, user: UserId, change: (before: Standing) => Standing): Promise<Standing> =>
      database.transaction(async (session) => {
        const { sums } = await lockedSums(database, session, task);
        const [row] = await session.query('SELECT * FROM suspicions WHERE task = ? AND usr = ?', task, user);
        const before = row === undefined ? NEW_STANDING : standingAt(readStanding(row), sums);
        const lastSum = row === undefined ? 0 : column.number(row, 'last_sum');
        const after = change(before);
        await insertRows(session, COLUMNS, [rowOf(task, user, after, lastSum)], REPLACE);
        return after;
      }),
  };
}

/** Before the buffer's deposits are removed, because they tell whose standings are read. */
export async function judge(
  database: SqlDatabase,
  session: SqlSession,
  ctx: Ctx,
  { task, users, named, outcome, minimum }: Verdict,
  now: number,
): Promise<void> {
  const sum = (await lockedSums(database, session, task)).sums + 1;
  const known = new Map(
    (await session.query(OF_BUFFER, task, ctx, ctx)).map((row) => [toHex(column.bytes(row, 'usr')), row]),
  );
  const standingOf = (user: string): Standing => {
    const row = known.get(user);
    return row === undefined ? NEW_STANDING : readStanding(row);
  };
  const counts = outcome === 'clean' ? NOBODY : await fleetAt(session, task, sum, known, users);
  const judged = { users: users.map(toHex), named: named.map(toHex), outcome };
  const after = judgeStandings(standingOf, judged, { sum, minimum, ...counts });
  const rows = [...after].map(([user, standing]) => rowOf(task, fromHex(user) as UserId, standing, sum));
  await insertRows(session, COLUMNS, rows, REPLACE);
  const below = async (limit: number): Promise<number> =>
    (await session.query(LESS_SUSPECTED, task, sum - LATELY, limit, minimum)).length;
  const [trusted, mild] = [await below(SUSPECT), await below(STRONG_SUSPECT)];
  const update = 'UPDATE sums SET judged = ?, trusted = ?, mild = ?, last_at = ? WHERE task = ?';
  await session.query(update, sum, trusted, mild, now, task);
  if (sum === 1) await session.query('UPDATE sums SET first_at = ? WHERE task = ?', now, task);
}

/** The numbers of active and of suspended devices; a device that takes part for the first time in long counts, too. */
async function fleetAt(
  { query }: SqlSession,
  task: TaskId,
  sum: number,
  known: ReadonlyMap<string, Row>,
  users: readonly UserId[],
): Promise<typeof NOBODY> {
  const counted = ([row = {}]: readonly Row[]): number => column.number(row, 'devices');
  const isCounted = (user: UserId): boolean => {
    const row = known.get(toHex(user));
    return row !== undefined && column.number(row, 'last_sum') > sum - LATELY;
  };
  const back = users.filter((user) => !isCounted(user)).length;
  return {
    devices: counted(await query(LATELY_SEEN, task, sum - LATELY, sum)) + back,
    suspended: counted(await query(SUSPENDED, task, sum)),
  };
}

export async function suspicionsOf({ query }: Pick<SqlSession, 'query'>, task: TaskId): Promise<TaskSuspicions> {
  const [row] = await query('SELECT * FROM sums WHERE task = ?', task);
  if (row === undefined) return { sums: 0, trust: { trusted: 0, mild: 0 }, lastAt: 0, suspects: new Map() };
  const sums = column.number(row, 'judged');
  const [firstAt, lastAt] = [column.number(row, 'first_at'), column.number(row, 'last_at')];
  const suspects = await query(SUSPECTS, task, SUSPECT);
  return {
    sums,
    trust: { trusted: column.number(row, 'trusted'), mild: column.number(row, 'mild') },
    lastAt,
    ...(sums > 1 && { paceMs: (lastAt - firstAt) / (sums - 1) }),
    suspects: new Map(suspects.map((one) => [toHex(column.bytes(one, 'usr')), readStanding(one)])),
  };
}

/** Sums of a task are judged one after the other. */
async function lockedSums(
  { dialect }: SqlDatabase,
  session: SqlSession,
  task: TaskId,
): Promise<{ readonly sums: number }> {
  await session.query(BEGIN, task);
  const [row = {}] = await session.query(`SELECT judged FROM sums WHERE task = ?${dialect.forUpdate}`, task);
  return { sums: column.number(row, 'judged') };
}

function readStanding(row: Row): Standing {
  const suspendedUntil = column.optional(row, 'suspended_until', column.number);
  return {
    suspicion: column.number(row, 'suspicion'),
    spoilt: column.number(row, 'spoilt'),
    suspensions: column.number(row, 'suspensions'),
    ...(suspendedUntil !== undefined && { suspendedUntil }),
    ...(column.number(row, 'banned') !== 0 && { isBanned: true }),
  };
}

function rowOf(task: TaskId, user: UserId, standing: Standing, lastSum: number): readonly SqlValue[] {
  const { suspicion, spoilt, suspensions, suspendedUntil, isBanned } = standing;
  return [task, user, suspicion, spoilt, suspensions, suspendedUntil ?? null, isBanned ? 1 : 0, lastSum];
}
