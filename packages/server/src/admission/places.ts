/**
 * Places to train in: a row for each device that asked lately, with the end of its place if it has one.
 *
 * A lost row does no harm. Only the upload counts.
 */
import type { TaskId, UserId } from '@basa/protocol';
import { Admission } from '@basa/protocol/one-shot';
import { column, type SqlDatabase, type SqlSession } from '@basa/service';
import { OPEN } from '../store/tasks.ts';

export interface PlaceWish extends Pick<Admission.Asked, 'places' | 'least'> {
  /** The version that the device will train on: the newest one. */
  readonly version: number;
  /** The time within which devices count that asked. */
  readonly withinMs: number;
  readonly leaseMs: number;
}

export interface PlaceCount {
  readonly used: number;
  /** Devices that wait for a place, up to `MOST_WAITING`. */
  readonly waiting: number;
  /** Batches that wait to be opened, without those whose authorities did not answer: no device waits for these. */
  readonly waitingSums: number;
}

export interface Placed extends PlaceCount {
  readonly admitted: Admission.Admitted;
  /** The remaining time of the place, if the device has one. */
  readonly leftMs: number;
  /** In a private task, the devices that asked lately and may contribute to the version. */
  readonly fresh: number;
}

/** A device that was told to come back within this time waits. */
const WAITS_MS = 60_000;
const MOST_WAITING = 3_000;

const OWN = 'SELECT ends_at, version, has_given FROM places WHERE task = ? AND usr = ? AND ends_at > ?';
const ASKS = `INSERT INTO places (task, usr, asked_at, version, has_given) VALUES (?, ?, ?, 0, 0)
  ON CONFLICT (task, usr) DO UPDATE SET asked_at = excluded.asked_at`;
/** An upload that may still be in a version. */
const IS_OPEN = `(s.status IN ('waiting', 'good') OR (s.status = 'batched' AND b.status IN ${OPEN}))`;
const UPLOADS = 'SELECT 1 AS found FROM shots s LEFT JOIN batches b ON b.ctx = s.ctx WHERE';
/** A place counts until its end, or until its update is in a version or in none: then the devices of a version stay together. */
const COUNT = `SELECT
  (SELECT COUNT(*) FROM places p WHERE p.task = ? AND p.ends_at > ?
    AND (p.has_given = 0 OR EXISTS (${UPLOADS} s.task = p.task AND s.usr = p.usr AND s.version >= p.version AND ${IS_OPEN}))) AS used,
  (SELECT COUNT(*) FROM (SELECT 1 FROM places WHERE task = ? AND ends_at IS NULL AND asked_at > ? LIMIT ${MOST_WAITING}) AS counted) AS waiting,
  (SELECT COUNT(*) FROM batches WHERE task = ? AND status IN ('frozen', 'granted') AND aside = 0) AS sums`;
const HAS_GIVEN = `${UPLOADS} s.task = ? AND s.usr = ? AND s.version >= ? AND (s.version >= ? OR ${IS_OPEN}) LIMIT 1`;
/** An update on the version that waits for its batch counts, too: otherwise the last devices of a small fleet would wait for more. */
const FRESH = `SELECT COUNT(*) AS found FROM places p WHERE p.task = ? AND p.asked_at > ?
  AND NOT EXISTS (SELECT 1 FROM shots s WHERE s.task = p.task AND s.usr = p.usr AND s.version = ?
    AND s.status NOT IN ('waiting', 'good'))`;
const GIVE = 'UPDATE places SET ends_at = ?, version = ?, has_given = 0 WHERE task = ? AND usr = ?';
const GIVE_NONE = 'UPDATE places SET ends_at = NULL WHERE task = ? AND usr = ?';
const FREE = 'DELETE FROM places WHERE task = ? AND usr = ?';
const BY_VERSION = `SELECT version, COUNT(*) AS found FROM places WHERE task = ? AND ends_at > ? AND has_given = 0
  GROUP BY version`;
const FORGET = 'DELETE FROM places WHERE asked_at < ? AND (ends_at IS NULL OR ends_at < ?)';

export class Places {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** Returns the place that the device has, or a new one if there is one for it. */
  take(task: TaskId, user: UserId, wish: PlaceWish): Promise<Placed> {
    // Under the lock of its task no other device enters.
    const lock = `SELECT task FROM tasks WHERE task = ?${this.#database.dialect.forUpdate}`;
    return this.#database.transaction(
      async (session) => {
        await session.query(lock, task);
        return takePlace(session, task, user, wish);
      },
      { mayBeLost: true },
    );
  }

  /** True if the device has a place and has not given its update. */
  async has(task: TaskId, user: UserId): Promise<boolean> {
    const [own] = await this.#database.query(OWN, task, user, await this.#database.now());
    return own !== undefined && column.number(own, 'has_given') === 0;
  }

  async free(task: TaskId, user: UserId): Promise<void> {
    await this.#database.query(FREE, task, user);
  }

  count(task: TaskId): Promise<PlaceCount> {
    return countOf(this.#database, task);
  }

  /** The devices under way by the version that they train on. */
  async underWay(task: TaskId): Promise<ReadonlyMap<number, number>> {
    const rows = await this.#database.query(BY_VERSION, task, await this.#database.now());
    return new Map(rows.map((row) => [column.number(row, 'version'), column.number(row, 'found')]));
  }

  /** Forgets devices that have no place and have not asked since. */
  async forget(before: number): Promise<void> {
    await this.#database.query(FORGET, before, await this.#database.now());
  }

  async forgetAll(): Promise<void> {
    await this.#database.query('DELETE FROM places');
  }
}

async function takePlace(session: SqlSession, task: TaskId, user: UserId, wish: PlaceWish): Promise<Placed> {
  const { query } = session;
  const { version, withinMs, leaseMs, least, ...rest } = wish;
  const at = await session.now();
  const [own] = await query(OWN, task, user, at);
  await query(ASKS, task, user, at);
  const count = await countOf(session, task);
  const isGiven = own !== undefined && column.number(own, 'has_given') === 1;
  if (own !== undefined && !isGiven) {
    const endsAt = column.number(own, 'ends_at');
    await query(GIVE, endsAt, version, task, user);
    return { ...count, admitted: 'place', leftMs: endsAt - at, fresh: 0 };
  }
  const since = isGiven ? Math.min(version, column.number(own, 'version')) : version;
  const hasGiven = (await query(HAS_GIVEN, task, user, since, version)).length > 0;
  const [found] = least > 0 ? await query(FRESH, task, at - withinMs, version) : [];
  const fresh = found === undefined ? 0 : column.number(found, 'found');
  const admitted = Admission.admit({ ...rest, ...count, hasGiven, fresh, least });
  if (admitted === 'place') await query(GIVE, at + leaseMs, version, task, user);
  // The place of a device that has given may count.
  else if (admitted !== 'given') await query(GIVE_NONE, task, user);
  return { ...count, admitted, leftMs: admitted === 'place' ? leaseMs : 0, fresh };
}

async function countOf({ query, now }: Pick<SqlSession, 'query' | 'now'>, task: TaskId): Promise<PlaceCount> {
  const at = await now();
  const [row = {}] = await query(COUNT, task, at, task, at - WAITS_MS, task);
  const [used, waiting, waitingSums] = ['used', 'waiting', 'sums'].map((name) => column.number(row, name));
  return { used, waiting, waitingSums } as PlaceCount;
}
