/**
 * Batches: a row for each, with its state and the votes for it; its uploads are rows of their own. A step locks the row first and reads it
 * afterwards, so that two nodes never take the same one.
 */
import { fromHex, type Suite, toHex } from '@basa/masking';
import type { Ctx, TaskId, UserId } from '@basa/protocol';
import { Sums } from '@basa/protocol/one-shot';
import { TaskPolicy } from '@basa/protocol/policy';
import { type Batch, batchCtxOf } from '@basa/protocol/wire';
import { column, type Dialect, type Row, type SqlDatabase, type SqlSession } from '@basa/service';
import { freeShots, type RefusedShot, readShot, type StoredShot } from './shots.ts';
import { checkFence, type Fence, inChunks } from './sql.ts';
import { OPEN } from './tasks.ts';

/** The writes of one step of a batch besides its state. */
export interface BatchChange {
  /** The result of opening the sum. */
  readonly opened?: OpenedRow | undefined;
  /** The batch is dissolved: its uploads wait again, without these. */
  readonly freed?: readonly RefusedShot[] | undefined;
  /** The lease under which the step is taken. */
  readonly fence?: Fence | undefined;
}

/** A batch without its users. */
export interface BatchRow {
  readonly ctx: Ctx;
  readonly status: Sums.ShotBatch['status'];
  /** The oldest version that its uploads were trained on. */
  readonly version: number;
  readonly updates: number;
}

/** Batches with the policy of their task. */
const BATCH = 'SELECT b.*, t.policy FROM batches b JOIN tasks t ON t.task = b.task WHERE b.ctx = ?';
const MEMBERS = 'SELECT name, usr, version FROM shots WHERE ctx = ? ORDER BY position';
const ROWS = `SELECT b.ctx, b.status, b.made_at, MIN(s.version) AS version, COUNT(s.name) AS updates
  FROM batches b LEFT JOIN shots s ON s.ctx = b.ctx WHERE b.task = ?`;
const GROUPED = 'GROUP BY b.ctx, b.status, b.made_at ORDER BY b.made_at';
/** Not those that were dissolved: their uploads are in others, or wait. Uploads are counted for these few, however many batches ended before. */
const LAST = `SELECT b.ctx, b.status, b.made_at, MIN(s.version) AS version, COUNT(s.name) AS updates
  FROM (SELECT ctx, status, made_at FROM batches WHERE task = ? AND status NOT IN ${OPEN} AND status <> 'aborted'
    ORDER BY made_at DESC, ctx LIMIT ?) b
  LEFT JOIN shots s ON s.ctx = b.ctx ${GROUPED} DESC, b.ctx`;
const ENDED = `SELECT ctx FROM batches WHERE task = ? AND made_at < ? AND status NOT IN ${OPEN} ORDER BY made_at LIMIT ?`;

export function batchTables(database: SqlDatabase) {
  return {
    /** Returns undefined, and writes nothing, if one of the uploads no longer exists or is in another batch. */
    addBatch: (suite: Suite, batch: Batch, fence?: Fence): Promise<Sums.ShotBatch | undefined> =>
      database
        .transaction(async (session) => {
          await checkFence(database, session, fence);
          const ctx = batchCtxOf(suite, batch);
          await insertBatch(database.dialect, session, ctx, batch);
          return readBatch(session, ctx);
        })
        .catch((error: unknown) => {
          if (error instanceof ShotMissing) return undefined;
          throw error;
        }),
    batch: (ctx: Ctx): Promise<Sums.ShotBatch | undefined> => readBatch(database, ctx),
    /** Batches of the task that have not ended, oldest first. */
    openBatches: async (task: TaskId): Promise<readonly BatchRow[]> =>
      (await database.query(`${ROWS} AND b.status IN ${OPEN} ${GROUPED}, b.ctx`, task)).map(readRow),
    /** Batches of the task that ended, the youngest first. */
    lastBatches: async (task: TaskId, limit: number): Promise<readonly BatchRow[]> =>
      (await database.query(LAST, task, limit)).map(readRow),
    /** All batches that have not ended. */
    openBatchNames: async (): Promise<readonly Ctx[]> =>
      (await database.query(`SELECT ctx FROM batches WHERE status IN ${OPEN}`)).map(
        (row) => column.bytes(row, 'ctx') as Ctx,
      ),
    /** The devices of batches that wait for votes. */
    usersInVotes: async (task: TaskId): Promise<readonly UserId[]> => {
      const voting = `SELECT s.usr FROM shots s JOIN batches b ON b.ctx = s.ctx WHERE b.task = ? AND b.status = 'frozen'`;
      return (await database.query(voting, task)).map((row) => column.bytes(row, 'usr') as UserId);
    },
    /** Places do not wait for this batch any more. */
    async setAside(ctx: Ctx): Promise<void> {
      await database.query('UPDATE batches SET aside = 1 WHERE ctx = ?', ctx);
    },
    /** In the order of the batch. */
    batchShots: async (ctx: Ctx): Promise<readonly StoredShot[]> =>
      (await database.query('SELECT * FROM shots WHERE ctx = ? ORDER BY position', ctx)).map(readShot),
    /**
     * Locks the batch, passes it to `step`, and writes the result. `step` may be called again if the database asks for it, so it must only
     * compute. Undefined if there is no such batch.
     */
    advance: <Answer>(
      ctx: Ctx,
      step: (batch: Sums.ShotBatch) => Sums.SumStep<Sums.ShotBatch, Answer>,
      change: BatchChange = {},
    ): Promise<Sums.SumStep<Sums.ShotBatch, Answer> | undefined> =>
      database.transaction(async (session) => {
        await session.query(`SELECT ctx FROM batches WHERE ctx = ?${database.dialect.forUpdate}`, ctx);
        const batch = await readBatch(session, ctx);
        if (batch === undefined) return undefined;
        await checkFence(database, session, change.fence);
        const taken = step(batch);
        if (taken.records.length > 0) await writeStep(session, taken.state, change);
        return taken;
      }),
    /** In the order in which they were opened. */
    openedSums: async (task: TaskId): Promise<readonly WaitingSum[]> =>
      (await database.query(WAITING, task)).map(readOpened),
    /** Removes the records of ended batches, the oldest first, `limit` at a time. Returns their number. */
    forgetBatches: (
      task: TaskId,
      { madeBefore, limit }: { readonly madeBefore: number; readonly limit: number },
      fence?: Fence,
    ): Promise<number> =>
      database.transaction(async (session) => {
        await checkFence(database, session, fence);
        const ended = await session.query(ENDED, task, madeBefore, limit);
        for (const row of ended)
          for (const table of ['opened', 'shots', 'batches'])
            await session.query(`DELETE FROM ${table} WHERE ctx = ?`, column.bytes(row, 'ctx'));
        return ended.length;
      }),
  };
}

async function readBatch({ query }: Pick<SqlSession, 'query'>, ctx: Ctx): Promise<Sums.ShotBatch | undefined> {
  const [row] = await query(BATCH, ctx);
  if (row === undefined) return undefined;
  const members = await query(MEMBERS, ctx);
  const task = column.bytes(row, 'task') as TaskId;
  const frozen = Sums.openShotBatch(TaskPolicy.decode(column.bytes(row, 'policy')), {
    ctx,
    batch: { task, uploads: members.map((member) => column.bytes(member, 'name') as Ctx) },
    // The mean, if the batch mixes versions; exactly their version, if it does not.
    version: members.reduce((sum, member) => sum + column.number(member, 'version'), 0) / (members.length || 1),
    users: members.map((member) => column.bytes(member, 'usr') as UserId),
  });
  const includedIn = column.optional(row, 'included_in', column.number);
  return {
    ...frozen,
    status: column.text(row, 'status') as Sums.ShotBatch['status'],
    votes: readVotes(column.text(row, 'votes')),
    ...(includedIn !== undefined && { includedIn }),
  };
}

type StoredVotes = readonly (readonly [authority: number, signature: string])[];

function readVotes(votes: string): Sums.ShotBatch['votes'] {
  return (JSON.parse(votes) as StoredVotes).map(([authority, signature]) => ({
    authority,
    signature: fromHex(signature) as Uint8Array,
  }));
}

async function writeStep(
  session: SqlSession,
  { ctx, status, votes, includedIn }: Sums.ShotBatch,
  { opened, freed }: BatchChange,
): Promise<void> {
  const update = 'UPDATE batches SET status = ?, votes = ?, included_in = ? WHERE ctx = ?';
  const stored: StoredVotes = votes.map(({ authority, signature }) => [authority, toHex(signature)]);
  await session.query(update, status, JSON.stringify(stored), includedIn ?? null, ctx);
  if (opened !== undefined) await insertOpened(session, ctx, opened);
  if (freed !== undefined) await freeShots(session, ctx, freed);
  if (isEnded(status)) await session.query('DELETE FROM opened WHERE ctx = ?', ctx);
}

/** True if a batch has ended in any way. */
export function isEnded(status: Sums.ShotBatch['status']): boolean {
  return status !== 'frozen' && !Sums.isGranted({ status });
}

function readRow(row: Row): BatchRow {
  return {
    ctx: column.bytes(row, 'ctx') as Ctx,
    status: column.text(row, 'status') as Sums.ShotBatch['status'],
    version: column.optional(row, 'version', column.number) ?? 0,
    updates: column.number(row, 'updates'),
  };
}

class ShotMissing extends Error {}

async function insertBatch(dialect: Dialect, session: SqlSession, ctx: Ctx, { task, uploads }: Batch): Promise<void> {
  const { query } = session;
  const add = `INSERT INTO batches (ctx, task, status, votes, aside, made_at) VALUES (?, ?, 'frozen', '[]', 0, ?)
    ON CONFLICT (ctx) DO NOTHING`;
  await query(add, ctx, task, await session.now());
  const placed = uploads.map((name, position) => [name, position] as const);
  for (const some of inChunks(placed)) await query(takingSome(dialect, some.length), ...some.flat(), ctx, task);
  const taken = await query('SELECT name FROM shots WHERE ctx = ?', ctx);
  if (taken.length !== uploads.length) throw new ShotMissing('an upload of the batch is not there');
}

/** Names and positions are listed with their types, because PostgreSQL takes untyped values in a list as text. */
function takingSome({ blob, integer }: Dialect, count: number): string {
  const values = Array<string>(count).fill(`(CAST(? AS ${blob}), CAST(? AS ${integer}))`).join(', ');
  return `WITH taken (own_name, own_position) AS (VALUES ${values})
    UPDATE shots SET status = 'batched', ctx = ?, position = taken.own_position FROM taken
    WHERE task = ? AND name = taken.own_name AND ctx IS NULL AND status IN ('waiting', 'good')`;
}

/** The data of a sum besides its mean, which is in a blob; or the reason why it is spoilt. */
export type OpenedRow = { readonly task: TaskId } & (
  | {
      readonly kind: 'mean';
      readonly weightSum: number;
      readonly metrics: Readonly<Record<string, number>>;
    }
  | { readonly kind: 'spoilt'; readonly why: string }
);

/** An opened sum that waits for its version. It is forgotten when it has ended. */
export type WaitingSum = OpenedRow & {
  readonly ctx: Ctx;
  readonly at: number;
  /** The version that includes it, or leaves it out; undefined until there is one. */
  readonly version: number | undefined;
};

const WAITING = `SELECT o.*, s.version FROM opened o LEFT JOIN model_sums s ON s.ctx = o.ctx WHERE o.task = ? ORDER BY o.at, o.ctx`;
const ADD_OPENED = `INSERT INTO opened (ctx, task, at, weight_sum, metrics, why)
  VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (ctx) DO NOTHING`;

async function insertOpened({ query, now }: SqlSession, ctx: Ctx, opened: OpenedRow): Promise<void> {
  const about =
    opened.kind === 'spoilt' ? [null, null, opened.why] : [opened.weightSum, JSON.stringify(opened.metrics), null];
  await query(ADD_OPENED, ctx, opened.task, await now(), ...about);
}

function readOpened(row: Row): WaitingSum {
  const why = column.optional(row, 'why', column.text);
  const common = {
    ctx: column.bytes(row, 'ctx') as Ctx,
    task: column.bytes(row, 'task') as TaskId,
    at: column.number(row, 'at'),
    version: column.optional(row, 'version', column.number),
  };
  if (why !== undefined) return { ...common, kind: 'spoilt', why };
  return {
    ...common,
    kind: 'mean',
    weightSum: column.number(row, 'weight_sum'),
    metrics: JSON.parse(column.text(row, 'metrics')) as Record<string, number>,
  };
}
