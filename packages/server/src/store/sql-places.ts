/** Places of devices that are under way, and the line of those that wait for one, shared by the nodes of one database. */
import { type Crowd, MAX_AHEAD, type TaskId, type UserId } from '@basa/protocol';
import { column, type Row, type SqlDatabase, type SqlSession } from '@basa/service';
import type { PlaceStore } from './place-store.ts';

type Query = Pick<SqlSession, 'query'>;

const MINE = 'SELECT ends_at, for_seat FROM places WHERE task = ? AND usr = ?';
const LIVING = 'SELECT COUNT(*) AS found FROM places WHERE task = ? AND ends_at > ?';
const LAPSED = 'SELECT COUNT(*) AS found FROM places WHERE task = ? AND ends_at <= ? AND has_lapsed = 0';
const NOTE_LAPSED = 'UPDATE places SET has_lapsed = 1 WHERE task = ? AND ends_at <= ? AND has_lapsed = 0';
const TAKE = `INSERT INTO places (task, usr, ends_at, for_seat, version) VALUES (?, ?, ?, ?, ?) ON CONFLICT (task, usr)
  DO UPDATE SET ends_at = excluded.ends_at, for_seat = excluded.for_seat, version = excluded.version, has_lapsed = 0`;
const BY_VERSION = 'SELECT version, COUNT(*) AS found FROM places WHERE task = ? AND ends_at > ? GROUP BY version';
const FORGET = 'DELETE FROM places WHERE task = ? AND usr = ?';
const LEAVE_LINE = 'DELETE FROM waiting WHERE task = ? AND usr = ?';
const TURN = 'SELECT turn FROM waiting WHERE task = ? AND usr = ? AND until > ?';
const IN_LINE = `SELECT COUNT(*) AS found FROM (
  SELECT usr FROM waiting WHERE task = ? AND turn < ? AND until > ? LIMIT ${MAX_AHEAD}) AS line`;
const LAST_TURN = 'SELECT COALESCE(MAX(turn), 0) AS found FROM waiting WHERE task = ?';
const STAY = `INSERT INTO waiting (task, usr, turn, until) VALUES (?, ?, ?, ?) ON CONFLICT (task, usr)
  DO UPDATE SET turn = excluded.turn, until = excluded.until`;

export function sqlPlaces(database: SqlDatabase): PlaceStore {
  const { forUpdate } = database.dialect;
  return {
    takePlace: (task, user, { isForSeat, version, leaseMs, decide }) =>
      database.transaction(async (session) => {
        const { query } = session;
        // Nobody else takes a place of the task meanwhile.
        await query(`SELECT task FROM tasks WHERE task = ?${forUpdate}`, task);
        const now = await session.now();
        const lapsed = await found(session, LAPSED, task, now);
        if (lapsed > 0) await query(NOTE_LAPSED, task, now);
        const [row] = await query(MINE, task, user);
        const underWay = await found(session, LIVING, task, now);
        const mine = row === undefined ? undefined : placeOf(row);
        if (mine !== undefined && mine.endsAt > now)
          return { kind: 'given', leftMs: mine.endsAt - now, underWay, lapsed };
        const isIdle = mine !== undefined && (!isForSeat || mine.isForSeat);
        if (isIdle) await query(FORGET, task, user);
        const seen = { lapsed, ...(isIdle && { idleSince: mine.endsAt }) };
        const { turn, ...line } = await lineOf(session, task, user, now);
        const decision = decide({ underWay, ...line });
        if (decision !== 'place') {
          const until = now + Math.round(decision.turnMs);
          if (until > now) await query(STAY, task, user, turn ?? 1 + (await found(session, LAST_TURN, task)), until);
          return { kind: 'none', ...seen };
        }
        const leftMs = Math.round(leaseMs(isIdle));
        await query(TAKE, task, user, now + leftMs, isForSeat ? 1 : 0, version);
        await query(LEAVE_LINE, task, user);
        return { kind: 'given', leftMs, underWay: underWay + 1, ...seen };
      }),
    hasPlace: async (task, user) => {
      const [row] = await database.query(MINE, task, user);
      return row !== undefined && placeOf(row).endsAt > (await database.now());
    },
    endPlace: (task, user, how) =>
      database.transaction(async ({ query, now: nowOf }) => {
        const now = await nowOf();
        const [row] = await query(MINE, task, user);
        const mine = row === undefined ? undefined : placeOf(row);
        const isLiving = mine !== undefined && mine.endsAt > now;
        if (how === 'used') for (const statement of [FORGET, LEAVE_LINE]) await query(statement, task, user);
        else if (isLiving) {
          const statement = 'UPDATE places SET ends_at = ?, for_seat = ?, has_lapsed = 1 WHERE task = ? AND usr = ?';
          await query(statement, now, mine.isForSeat && how === 'returned' ? 1 : 0, task, user);
        }
        return isLiving;
      }),
    countPlaces: async (task) => {
      const now = await database.now();
      const rows = await database.query(BY_VERSION, task, now);
      const byVersion = new Map(rows.map((row) => [column.number(row, 'version'), column.number(row, 'found')]));
      const underWay = [...byVersion.values()].reduce((sum, count) => sum + count, 0);
      return { underWay, byVersion, waiting: await found(database, IN_LINE, task, Number.MAX_SAFE_INTEGER, now) };
    },
    async noteIdlePlace(task, user, at) {
      const statement = 'INSERT INTO idle_places (usr, task, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
      await database.query(statement, user, task, Math.round(at));
    },
  };
}

function placeOf(row: Row): { readonly endsAt: number; readonly isForSeat: boolean } {
  return { endsAt: column.number(row, 'ends_at'), isForSeat: column.number(row, 'for_seat') === 1 };
}

/** `turn`: the one the device has. */
async function lineOf(
  session: Query,
  task: TaskId,
  user: UserId,
  now: number,
): Promise<Pick<Crowd, 'ahead' | 'waiting'> & { readonly turn?: number }> {
  const waiting = await found(session, IN_LINE, task, Number.MAX_SAFE_INTEGER, now);
  const [row] = await session.query(TURN, task, user, now);
  if (row === undefined) return { ahead: waiting, waiting };
  const turn = column.number(row, 'turn');
  return { ahead: await found(session, IN_LINE, task, turn, now), waiting, turn };
}

async function found({ query }: Query, statement: string, ...values: (Uint8Array | number)[]): Promise<number> {
  const [row] = await query(statement, ...values);
  return row === undefined ? 0 : column.number(row, 'found');
}
