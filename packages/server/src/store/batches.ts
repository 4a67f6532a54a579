/** Batches with their uploads in order, and their facts; the row is locked first and read afterwards, so that two nodes never take the same step. */
import type { Suite } from '@basa/masking';
import {
  type Batch,
  batchCtxOf,
  type Ctx,
  decodeBufferRecord,
  decodePolicy,
  encodeBufferRecord,
  isGranted,
  type ShotBatch,
  type StoredBatch,
  type SumFact,
  type TaskId,
  type TaskPolicy,
  type UserId,
} from '@basa/protocol';
import { column, type Dialect, type Row, type SqlDatabase, type SqlSession } from '@basa/service';
import { freeShots, type RefusedShot, readShot, type StoredShot } from './shots.ts';
import { checkFence, type Fence, inChunks, insertRows } from './sql.ts';
import { OPEN } from './tasks.ts';

/** A batch with the policy of its task. */
export interface KeptBatch extends StoredBatch {
  readonly policy: TaskPolicy;
}

/** The writes of one step of a batch. */
export interface BatchChange {
  readonly facts: readonly SumFact[];
  readonly status: ShotBatch['status'];
  /** The result of opening the sum. */
  readonly opened?: OpenedRow;
  /** The batch is dissolved: its uploads wait again, without these. */
  readonly freed?: readonly RefusedShot[];
}

/** Batches with the policy of their task. */
const BATCHES = 'SELECT b.*, t.policy FROM batches b JOIN tasks t ON t.task = b.task';
const MEMBERS = 'SELECT name, usr, version FROM shots WHERE ctx = ? ORDER BY position';
const FACTS = 'SELECT record FROM records WHERE ctx = ? AND number > ? ORDER BY number';
const ENDED = `SELECT ctx FROM batches WHERE task = ? AND made_at < ? AND status NOT IN ${OPEN} ORDER BY made_at LIMIT ?`;

/** Batches with their uploads in order, and their facts. The row is locked first and read afterwards, so that two nodes never take the same step. */
export function batchTables(database: SqlDatabase) {
  const read = async ({ query }: Pick<SqlSession, 'query'>, row: Row): Promise<KeptBatch> => {
    const ctx = column.bytes(row, 'ctx') as Ctx;
    const members = await query(MEMBERS, ctx);
    const batch: Batch = {
      task: column.bytes(row, 'task') as TaskId,
      uploads: members.map((member) => column.bytes(member, 'name') as Ctx),
    };
    return {
      ctx,
      policy: decodePolicy(column.bytes(row, 'policy')),
      batch,
      // The mean, if the batch mixes versions; exactly their version, if it does not.
      version: members.reduce((sum, member) => sum + column.number(member, 'version'), 0) / (members.length || 1),
      users: members.map((member) => column.bytes(member, 'usr') as UserId),
    };
  };
  const facts = async ({ query }: Pick<SqlSession, 'query'>, ctx: Ctx, known: number): Promise<readonly SumFact[]> =>
    (await query(FACTS, ctx, known)).map((row) => decodeBufferRecord(column.bytes(row, 'record')));
  return {
    /** Returns undefined, and writes nothing, if one of the uploads no longer exists or is in another batch. */
    addBatch: (suite: Suite, batch: Batch, fence?: Fence): Promise<Ctx | undefined> =>
      database
        .transaction(async (session) => {
          await checkFence(database, session, fence);
          const ctx = batchCtxOf(suite, batch);
          await insertBatch(database.dialect, session, ctx, batch);
          return ctx;
        })
        .catch((error: unknown) => {
          if (error instanceof ShotMissing) return undefined;
          throw error;
        }),
    batch: async (ctx: Ctx): Promise<KeptBatch | undefined> => {
      const [row] = await database.query(`${BATCHES} WHERE b.ctx = ?`, ctx);
      return row && read(database, row);
    },
    /** Batches that have not ended, oldest first, with the number of their last fact. */
    livingBatches: async (): Promise<readonly (KeptBatch & { readonly number: number })[]> => {
      const rows = await database.query(`${BATCHES} WHERE b.status IN ${OPEN} ORDER BY b.made_at, b.ctx`);
      return Promise.all(
        rows.map(async (row) => ({ ...(await read(database, row)), number: column.number(row, 'last_record') })),
      );
    },
    /** In the order of the batch. */
    batchShots: async (ctx: Ctx): Promise<readonly StoredShot[]> =>
      (await database.query('SELECT * FROM shots WHERE ctx = ? ORDER BY position', ctx)).map(readShot),
    /**
     * Locks the batch, passes the facts after number `known` to `step`, and writes its result. `step` may be called again if the database
     * asks for it, so it must only compute.
     */
    advance: <Result>(
      ctx: Ctx,
      known: number,
      step: (newFacts: readonly SumFact[]) => { readonly change: BatchChange | undefined; readonly result: Result },
      fence?: Fence,
    ): Promise<{ readonly result: Result; readonly number: number }> =>
      database.transaction(async (session) => {
        const locked = `SELECT last_record FROM batches WHERE ctx = ?${database.dialect.forUpdate}`;
        const [row] = await session.query(locked, ctx);
        if (row === undefined) throw new Error('no such batch in the store');
        await checkFence(database, session, fence);
        const last = column.number(row, 'last_record');
        const { change, result } = step(known === last ? [] : await facts(session, ctx, known));
        if (change === undefined) return { result, number: last };
        return { result, number: await writeChange(session, { ctx, last }, change) };
      }),
    /** Returns the current facts after number `known`. */
    facts: (ctx: Ctx, known: number): Promise<readonly SumFact[]> => facts(database, ctx, known),
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
          for (const table of ['records', 'opened', 'shots', 'batches'])
            await session.query(`DELETE FROM ${table} WHERE ctx = ?`, column.bytes(row, 'ctx'));
        return ended.length;
      }),
  };
}

async function writeChange(
  session: SqlSession,
  { ctx, last }: { readonly ctx: Ctx; readonly last: number },
  { facts, status, opened, freed }: BatchChange,
): Promise<number> {
  const records = facts.map((fact, n) => [ctx, last + 1 + n, encodeBufferRecord(fact)]);
  await insertRows(session, 'records (ctx, number, record)', records);
  if (opened !== undefined) await insertOpened(session, { ...opened, ctx, at: await session.now() });
  if (freed !== undefined) await freeShots(session, ctx, freed);
  if (isEnded(status)) await session.query('DELETE FROM opened WHERE ctx = ?', ctx);
  const number = last + facts.length;
  await session.query('UPDATE batches SET status = ?, last_record = ? WHERE ctx = ?', status, number, ctx);
  return number;
}

/** True if a batch has ended in any way. */
export function isEnded(status: ShotBatch['status']): boolean {
  return status !== 'frozen' && !isGranted({ status });
}

class ShotMissing extends Error {}

async function insertBatch(dialect: Dialect, session: SqlSession, ctx: Ctx, { task, uploads }: Batch): Promise<void> {
  const { query } = session;
  const add = `INSERT INTO batches (ctx, task, status, last_record, made_at) VALUES (?, ?, 'frozen', 0, ?)
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

/** The data of a sum besides its mean; or the reason why it is spoilt. */
export type OpenedRow = { readonly task: TaskId } & (
  | {
      readonly kind: 'mean';
      readonly weightSum: number;
      readonly metrics: Readonly<Record<string, number>>;
    }
  | { readonly kind: 'spoilt'; readonly why: string }
);

export type WaitingSum = OpenedRow & {
  readonly ctx: Ctx;
  readonly at: number;
  /** The version that includes it, or leaves it out; missing until there is one. */
  readonly version?: number;
};

const WAITING = `SELECT o.*, s.version FROM opened o LEFT JOIN model_sums s ON s.ctx = o.ctx WHERE o.task = ? ORDER BY o.at, o.ctx`;
const ADD = `INSERT INTO opened (ctx, task, at, weight_sum, metrics, why)
  VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (ctx) DO NOTHING`;

/** Opened sums that wait for their version. Their means are in blobs; they are forgotten when they have ended. */
export function openedTables(database: SqlDatabase) {
  return {
    /** In the order in which they were opened. */
    openedSums: async (task: TaskId): Promise<readonly WaitingSum[]> =>
      (await database.query(WAITING, task)).map(readOpened),
  };
}

/** Runs in the transaction of the step that records it. */
async function insertOpened(
  { query }: SqlSession,
  opened: OpenedRow & { readonly ctx: Ctx; readonly at: number },
): Promise<void> {
  const { ctx, task, at } = opened;
  if (opened.kind === 'spoilt') {
    await query(ADD, ctx, task, at, null, null, opened.why);
    return;
  }
  const { weightSum, metrics } = opened;
  await query(ADD, ctx, task, at, weightSum, JSON.stringify(metrics), null);
}

function readOpened(row: Row): WaitingSum {
  const version = column.optional(row, 'version', column.number);
  const why = column.optional(row, 'why', column.text);
  const common = {
    ctx: column.bytes(row, 'ctx') as Ctx,
    task: column.bytes(row, 'task') as TaskId,
    at: column.number(row, 'at'),
    ...(version !== undefined && { version }),
  };
  if (why !== undefined) return { ...common, kind: 'spoilt', why };
  return {
    ...common,
    kind: 'mean',
    weightSum: column.number(row, 'weight_sum'),
    metrics: JSON.parse(column.text(row, 'metrics')) as Record<string, number>,
  };
}
