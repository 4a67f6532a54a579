/**
 * Places to train in: a row for each device that asked lately, with the end of its place if it has one.
 *
 * A lost row does no harm. Only the upload counts.
 */
import { type Admitted, type Asked, admit, type TaskId, type UserId } from '@basa/protocol';
import { column, type SqlDatabase, type SqlSession } from '@basa/service';

export interface PlaceWish extends Pick<Asked, 'places' | 'waitingSums' | 'least'> {
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
}

export interface Placed extends PlaceCount {
  readonly admitted: Admitted;
  /** The remaining time of the place, if the device has one. */
  readonly leftMs: number;
}

/** A device that was told to come back within this time waits. */
const WAITS_MS = 60_000;
const MOST_WAITING = 3_000;

const OWN = 'SELECT ends_at, version, has_given FROM places WHERE task = ? AND usr = ? AND ends_at > ?';
const ASKS = `INSERT INTO places (task, usr, asked_at, version, has_given) VALUES (?, ?, ?, 0, 0)
  ON CONFLICT (task, usr) DO UPDATE SET asked_at = excluded.asked_at`;
/** The version of a place whose update was given is the newest one at that time: it counts until the next one. */
const COUNT = `SELECT
  (SELECT COUNT(*) FROM places WHERE task = ? AND ends_at > ? AND (has_given = 0 OR version >= ?)) AS used,
  (SELECT COUNT(*) FROM (SELECT 1 FROM places WHERE task = ? AND ends_at IS NULL AND asked_at > ? LIMIT ${MOST_WAITING}) AS some) AS waiting`;
const HAS_GIVEN = 'SELECT 1 AS found FROM shots WHERE task = ? AND usr = ? AND version = ? LIMIT 1';
const FRESH = `SELECT COUNT(*) AS found FROM places p WHERE p.task = ? AND p.asked_at > ?
  AND NOT EXISTS (SELECT 1 FROM shots s WHERE s.task = p.task AND s.usr = p.usr AND s.version = ?)`;
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

  count(task: TaskId, version: number): Promise<PlaceCount> {
    return countOf(this.#database, task, version);
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
  const count = await countOf(session, task, version);
  const isHeld = own !== undefined && column.number(own, 'has_given') === 1;
  if (own !== undefined && !isHeld) {
    const endsAt = column.number(own, 'ends_at');
    await query(GIVE, endsAt, version, task, user);
    return { ...count, admitted: 'place', leftMs: endsAt - at };
  }
  const isCounted = isHeld && column.number(own, 'version') >= version;
  const hasGiven = isCounted || (await query(HAS_GIVEN, task, user, version)).length > 0;
  const [found] = least > 0 ? await query(FRESH, task, at - withinMs, version) : [];
  const fresh = found === undefined ? 0 : column.number(found, 'found');
  const admitted = admit({ ...rest, ...count, hasGiven, fresh, least });
  if (admitted === 'place') await query(GIVE, at + leaseMs, version, task, user);
  // The place of a device that has given counts until the next version.
  else if (admitted !== 'given') await query(GIVE_NONE, task, user);
  return { ...count, admitted, leftMs: admitted === 'place' ? leaseMs : 0 };
}

async function countOf(
  { query, now }: Pick<SqlSession, 'query' | 'now'>,
  task: TaskId,
  version: number,
): Promise<PlaceCount> {
  const at = await now();
  const [row = {}] = await query(COUNT, task, at, version, task, at - WAITS_MS);
  return { used: column.number(row, 'used'), waiting: column.number(row, 'waiting') };
}
