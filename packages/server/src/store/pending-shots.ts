/** Uploads of the one-shot mode that are in no batch yet: counted without reading them, and read in part. */
import type { Ctx, TaskId, UserId } from '@basa/protocol';
import { column, type SqlDatabase } from '@basa/service';
import { inChunks, marksFor } from './insert-rows.ts';
import { readShot, type ShotStatus, type StoredShot } from './shots.ts';

/** All that are on one model. */
export interface ShotGroup {
  readonly version: number;
  readonly model: Uint8Array;
  readonly arriving: number;
  readonly waiting: number;
  readonly good: number;
  /** The time at which the last of them came. */
  readonly lastAt: number;
  /**
   * The time at which the first authority stops voting for one of the good ones, and at which the last one stops for
   * any of them.
   */
  readonly votesFirst: number;
  readonly votesLast: number;
}

/** The numbers of uploads that are in no batch. */
export type PendingShots = Pick<ShotGroup, 'arriving' | 'waiting' | 'good'>;

/** The position at which a list of names continues. */
export interface NamedAt {
  readonly at: number;
  readonly name: Ctx;
}

const PENDING = `('arriving', 'waiting', 'good')`;
const GROUPS = `SELECT model, version, status, COUNT(*) AS number, MAX(at) AS last_at, MIN(votes_first) AS votes_first,
  MIN(votes_last) AS votes_last FROM shots WHERE task = ? AND status IN ${PENDING} GROUP BY model, version, status`;
const NAMES = `SELECT at, name FROM shots WHERE task = ? AND status = ? AND (at > ? OR (at = ? AND name > ?))
  ORDER BY at, name LIMIT ?`;
const ON_MODEL = `SELECT * FROM shots WHERE task = ? AND model = ? AND status IN ${PENDING} ORDER BY at, name LIMIT ?`;
const GOOD = `SELECT * FROM shots WHERE task = ? AND status = 'good' AND model = ? ORDER BY at, name LIMIT ?`;
const PAST = `SELECT * FROM shots WHERE task = ? AND status IN ${PENDING} AND votes_last <= ? ORDER BY at, name LIMIT ?`;
const OTHERS = `SELECT COUNT(*) AS found FROM shots WHERE task = ? AND version = ? AND usr <> ? AND status IN ${PENDING}`;
const UPDATES = `SELECT COUNT(*) AS number,
  COUNT(CASE WHEN s.status IN ('refused', 'over') OR b.status IN ('unknown', 'quarantined') THEN 1 END) AS lost
  FROM shots s LEFT JOIN batches b ON b.ctx = s.ctx WHERE s.task = ? AND s.model = ?`;

export function pendingShotTables(database: SqlDatabase) {
  const read = async (statement: string, task: TaskId, of: Uint8Array | number, limit: number) =>
    (await database.query(statement, task, of, limit)).map(readShot);
  return {
    /** The oldest version first. */
    shotGroups: async (task: TaskId): Promise<readonly ShotGroup[]> => {
      const groups = new Map<string, ShotGroup>();
      for (const row of await database.query(GROUPS, task)) {
        const model = column.bytes(row, 'model');
        const name = Buffer.from(model).toString('hex');
        groups.set(name, withCount(groups.get(name) ?? emptyGroup(model, column.number(row, 'version')), row));
      }
      return [...groups.values()].sort((a, b) => a.version - b.version);
    },
    /** The oldest first, from the one after `after` on. */
    namesOf: async (task: TaskId, status: ShotStatus, after: NamedAt | undefined, limit: number) => {
      const { at, name } = after ?? { at: -1, name: new Uint8Array() };
      const rows = await database.query(NAMES, task, status, at, at, name, limit);
      return rows.map((row): NamedAt => ({ at: column.number(row, 'at'), name: column.bytes(row, 'name') as Ctx }));
    },
    /** Returns the existing ones among them, the oldest first. */
    shotsNamed: async (task: TaskId, names: readonly Ctx[]): Promise<readonly StoredShot[]> => {
      const shots: StoredShot[] = [];
      for (const some of inChunks(names)) {
        const named = `SELECT * FROM shots WHERE task = ? AND name IN (${marksFor(some)})`;
        shots.push(...(await database.query(named, task, ...some)).map(readShot));
      }
      return shots.sort((a, b) => a.at - b.at);
    },
    /** In no batch, and on this model. */
    shotsOn: (task: TaskId, model: Uint8Array, limit: number): Promise<readonly StoredShot[]> =>
      read(ON_MODEL, task, model, limit),
    goodShots: (task: TaskId, model: Uint8Array, limit: number): Promise<readonly StoredShot[]> =>
      read(GOOD, task, model, limit),
    /** Uploads that are in no batch, and for which no authority votes any more. */
    shotsPastVotes: (task: TaskId, now: number, limit: number): Promise<readonly StoredShot[]> =>
      read(PAST, task, now, limit),
    /** The number of uploads of other devices on the version that are in no batch. */
    othersOn: async (task: TaskId, version: number, user: UserId): Promise<number> => {
      const [row] = await database.query(OTHERS, task, version, user);
      return row === undefined ? 0 : column.number(row, 'found');
    },
    /** The numbers of updates on this model that are lost, and that are or may yet be in a sum. */
    updatesOn: async (task: TaskId, model: Uint8Array): Promise<{ readonly lost: number; readonly left: number }> => {
      const [row = {}] = await database.query(UPDATES, task, model);
      const [lost, all] = [column.number(row, 'lost'), column.number(row, 'number')];
      return { lost, left: all - lost };
    },
  };
}

function emptyGroup(model: Uint8Array, version: number): ShotGroup {
  const never = Number.POSITIVE_INFINITY;
  return { version, model, arriving: 0, waiting: 0, good: 0, lastAt: 0, votesFirst: never, votesLast: never };
}

function withCount(group: ShotGroup, row: Parameters<typeof column.number>[0]): ShotGroup {
  const status = column.text(row, 'status') as 'arriving' | 'waiting' | 'good';
  return {
    ...group,
    [status]: column.number(row, 'number'),
    lastAt: Math.max(group.lastAt, column.number(row, 'last_at')),
    votesFirst: status === 'good' ? column.number(row, 'votes_first') : group.votesFirst,
    votesLast: Math.min(group.votesLast, column.number(row, 'votes_last')),
  };
}
