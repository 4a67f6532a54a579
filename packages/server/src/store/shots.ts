/** Uploads of the one-shot mode: each from its first byte to its batch, or to the reason why it is in none. */
import type { Ctx, RefusalReason, TaskId, UserId } from '@basa/protocol';
import type { Batching } from '@basa/protocol/one-shot';
import { ShotUpload } from '@basa/protocol/wire';
import { column, type Row, type SqlDatabase, type SqlSession, type SqlValue } from '@basa/service';
import { checkFence, type Fence, inChunks, marksFor } from './sql.ts';
import { OPEN } from './tasks.ts';

/**
 * `arriving`: its header is valid, but its body is incomplete. `waiting`: durable, and not inspected. `good`: it may be
 * in a batch. `batched`: it is in a batch and ends with it. `refused`, `over`: it is in none.
 */
export type ShotStatus = 'arriving' | 'waiting' | 'good' | 'batched' | 'refused' | 'over';

export interface StoredShot {
  readonly name: Ctx;
  readonly upload: ShotUpload;
  /** Of the model that its header names. */
  readonly version: number;
  readonly status: ShotStatus;
  /** The reason why it is in no batch, and never will be. */
  readonly reason: RefusalReason | undefined;
  /** The batch that it is in. */
  readonly ctx: Ctx | undefined;
  /** SHA-256 of the body, if it lies outside the server's own disks. */
  readonly bodyHash?: Uint8Array | undefined;
  /** The time at which it began, or was complete. */
  readonly at: number;
  readonly votes: Batching.VoteWindow;
}

/** An upload that is not recorded yet. */
export type FreshShot = Pick<StoredShot, 'name' | 'upload' | 'version' | 'votes'>;

export interface RefusedShot {
  readonly name: Ctx;
  readonly reason: RefusalReason;
}

/** `differs`: the device sent other bytes under this tag. `given`: it gave another upload on this model. */
export type BegunShot = { readonly kind: 'begun'; readonly shot: StoredShot } | { readonly kind: 'differs' | 'given' };

const ONE = 'SELECT * FROM shots WHERE task = ? AND name = ?';
const TAGGED = 'SELECT name FROM shots WHERE task = ? AND usr = ? AND join_tag = ?';
const BEGIN = `INSERT INTO shots (task, name, usr, join_tag, version, model, upload, status, votes_first, votes_last, at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
const ACCEPT = `UPDATE shots SET status = 'waiting', at = ?, body_hash = ? WHERE task = ? AND name = ? AND status = 'arriving'`;
const USE_PLACE = 'UPDATE places SET has_given = 1 WHERE task = ? AND usr = ?';
const NEEDED = `SELECT s.* FROM shots s LEFT JOIN batches b ON b.ctx = s.ctx WHERE s.status IN ('arriving', 'waiting', 'good')
  OR (s.status = 'batched' AND b.status IN ${OPEN})`;
const OLD = `DELETE FROM shots WHERE task = ? AND status IN ('refused', 'over') AND at < ?`;

/** Uploads of the one-shot mode: each from its first byte to its batch, or to the reason why it is in none. */
export function shotTables(database: SqlDatabase) {
  return {
    /** The same upload again returns the existing one. */
    beginShot: async (task: TaskId, fresh: FreshShot): Promise<BegunShot> => {
      const work = (session: SqlSession) => beginShot(session, task, { ...fresh, status: 'arriving' });
      const begun = await database.transaction(work, { mayBeLost: true });
      // Nothing is acknowledged yet, unless another request has ended in the meantime.
      if (begun.kind === 'begun' && begun.shot.status !== 'arriving') await database.query(ONE, task, fresh.name);
      return begun;
    },
    /** Its body is durable: the place of its device is used up. Returns its new state, which another request may have set. */
    acceptShot: (task: TaskId, name: Ctx, user: UserId, bodyHash?: Uint8Array): Promise<StoredShot | undefined> =>
      database.transaction(async (session) => {
        await acceptShot(session, task, name, user, bodyHash);
        return (await session.query(ONE, task, name)).map(readShot)[0];
      }),
    /** A complete upload with its small body, started and accepted in one transaction. */
    takeShot: (task: TaskId, fresh: FreshShot, body: SmallBody): Promise<BegunShot> =>
      database.transaction(async (session) => {
        const begun = await beginShot(session, task, { ...fresh, status: 'waiting' });
        if (begun.kind !== 'begun') return begun;
        const { status } = begun.shot;
        const { user } = fresh.upload.header;
        if (status === 'arriving') await acceptShot(session, task, fresh.name, user);
        else await session.query(USE_PLACE, task, user);
        // An existing body stays, and a body that was already used is not written again.
        if (status === 'arriving' || status === 'waiting') await putBody(session, body);
        return begun;
      }),
    shot: async (task: TaskId, name: Ctx): Promise<StoredShot | undefined> => {
      if ((await database.peek(ONE, task, name)).length === 0) return undefined;
      return (await database.query(ONE, task, name)).map(readShot)[0];
    },
    /** Changes only the uploads that still have the expected status. */
    decideShots: (
      task: TaskId,
      names: readonly Ctx[],
      { from, to, reason }: { readonly from: ShotStatus; readonly to: ShotStatus; readonly reason?: RefusalReason },
      fence?: Fence,
    ): Promise<void> =>
      database.transaction(async (session) => {
        await checkFence(database, session, fence);
        for (const some of inChunks(names)) {
          const decide = `UPDATE shots SET status = ?, reason = ? WHERE task = ? AND status = ? AND name IN (${marksFor(some)})`;
          await session.query(decide, to, reason ?? null, task, from, ...some);
          if (to !== 'refused' && to !== 'over') continue;
          await session.query(`DELETE FROM pieces WHERE name IN (${marksFor(some)})`, ...some);
        }
      }),
    /** The names of all uploads whose bodies are needed, or arriving. */
    shotsWithBodies: async (): Promise<readonly Ctx[]> =>
      (await database.query(NEEDED)).map((row) => column.bytes(row, 'name') as Ctx),
    /** Uploads whose bodies are complete, and needed. */
    wholeShots: async (): Promise<readonly StoredShot[]> =>
      (await database.query(NEEDED)).map(readShot).filter(({ status }) => status !== 'arriving'),
    /** All uploads of a task. */
    shotNames: async (task: TaskId): Promise<readonly Ctx[]> =>
      (await database.query('SELECT name FROM shots WHERE task = ?', task)).map(
        (row) => column.bytes(row, 'name') as Ctx,
      ),
    /** Removes the records of uploads that were in no batch. */
    async forgetShots(task: TaskId, before: number): Promise<void> {
      await database.query(OLD, task, before);
    },
  };
}

/** The constraints of the table are the rules: one upload for each tag, and one of a device on each model. */
async function beginShot(
  { query, now }: SqlSession,
  task: TaskId,
  { name, upload, version, votes, status }: FreshShot & Pick<StoredShot, 'status'>,
): Promise<BegunShot> {
  const { user, joinTag, model } = upload.header;
  const named: readonly SqlValue[] = [task, name, user, joinTag, version, model, ShotUpload.encode(upload)];
  await query(BEGIN, ...named, status, votes.first, votes.last, await now());
  const [shot] = (await query(ONE, task, name)).map(readShot);
  if (shot !== undefined) return shot.upload.bodyCrc === upload.bodyCrc ? { kind: 'begun', shot } : { kind: 'differs' };
  const rivals = await query(TAGGED, task, user, joinTag);
  return { kind: rivals.length > 0 ? 'differs' : 'given' };
}

async function acceptShot(
  { query, now }: SqlSession,
  task: TaskId,
  name: Ctx,
  user: UserId,
  bodyHash?: Uint8Array,
): Promise<void> {
  await query(ACCEPT, await now(), bodyHash ?? null, task, name);
  await query('DELETE FROM pieces WHERE name = ?', name);
  await query(USE_PLACE, task, user);
}

/** Runs in the transaction that ends a batch without votes. */
export async function freeShots({ query }: SqlSession, ctx: Ctx, refused: readonly RefusedShot[]): Promise<void> {
  const refuse = `UPDATE shots SET status = 'refused', reason = ?, ctx = NULL, position = NULL WHERE ctx = ? AND name = ?`;
  for (const { name, reason } of refused) await query(refuse, reason, ctx, name);
  await query(`UPDATE shots SET status = 'waiting', ctx = NULL, position = NULL WHERE ctx = ?`, ctx);
}

export function readShot(row: Row): StoredShot {
  return {
    name: column.bytes(row, 'name') as Ctx,
    upload: ShotUpload.decode(column.bytes(row, 'upload')),
    version: column.number(row, 'version'),
    status: column.text(row, 'status') as ShotStatus,
    reason: column.optional(row, 'reason', column.text) as RefusalReason | undefined,
    ctx: column.optional(row, 'ctx', column.bytes) as Ctx | undefined,
    bodyHash: column.optional(row, 'body_hash', column.bytes),
    at: column.number(row, 'at'),
    votes: { first: column.number(row, 'votes_first'), last: column.number(row, 'votes_last') },
  };
}

/** A whole body, and the name that it is written under. */
export interface SmallBody {
  readonly key: string;
  readonly bytes: Uint8Array;
}

const PUT = 'INSERT INTO bodies (name, bytes) VALUES (?, ?) ON CONFLICT (name) DO NOTHING';

/** A body that is there stays. */
export async function putBody({ query }: SqlSession, { key, bytes }: SmallBody): Promise<void> {
  await query(PUT, key, bytes);
}

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

/** Uploads of the one-shot mode that are in no batch yet: counted without reading them, and read in part. */
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
