/** Batches of the one-shot mode: rows of buffers that begin frozen, with their uploads in order. */
import type { Suite } from '@basa/masking';
import {
  type Batch,
  batchCtxOf,
  type Ctx,
  decodeHeldPolicy,
  type StoredBatch,
  type TaskId,
  type TaskPolicy,
  type UserId,
} from '@basa/protocol';
import { column, type Dialect, type Row, type SqlDatabase, type SqlSession } from '@basa/service';
import { inChunks } from './insert-rows.ts';
import { checkFence, type Fence } from './leases.ts';
import { readShot, type StoredShot } from './shots.ts';
import { OPEN } from './tasks.ts';

/** A batch with the policy of its task. */
export interface KeptBatch extends StoredBatch {
  readonly policy: TaskPolicy;
}

const BATCHES = 'SELECT b.*, t.policy FROM buffers b JOIN tasks t ON t.task = b.task WHERE b.batch_number IS NOT NULL';
const MEMBERS = 'SELECT name, usr, version FROM shots WHERE ctx = ? ORDER BY position';
const LAST = 'SELECT COALESCE(MAX(batch_number), -1) AS last_number FROM buffers WHERE task = ?';

export function batchTables(database: SqlDatabase) {
  const read = async ({ query }: Pick<SqlSession, 'query'>, row: Row): Promise<KeptBatch> => {
    const ctx = column.bytes(row, 'ctx') as Ctx;
    const members = await query(MEMBERS, ctx);
    const batch: Batch = {
      task: column.bytes(row, 'task') as TaskId,
      number: column.number(row, 'batch_number'),
      uploads: members.map((member) => column.bytes(member, 'name') as Ctx),
    };
    return {
      ctx,
      policy: decodeHeldPolicy(column.bytes(row, 'policy')),
      batch,
      version: column.number(members[0] ?? { version: 0 }, 'version'),
      users: members.map((member) => column.bytes(member, 'usr') as UserId),
    };
  };
  return {
    nextBatch: async (task: TaskId): Promise<number> => {
      const [row = {}] = await database.query(LAST, task);
      return column.number(row, 'last_number') + 1;
    },
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
      const [row] = await database.query(`${BATCHES} AND b.ctx = ?`, ctx);
      return row && read(database, row);
    },
    /** Batches that have not ended, oldest first, with the number of their last fact. */
    livingBatches: async (): Promise<readonly (KeptBatch & { readonly number: number })[]> => {
      const rows = await database.query(`${BATCHES} AND b.status IN ${OPEN} ORDER BY b.drawn_at, b.ctx`);
      return Promise.all(
        rows.map(async (row) => ({ ...(await read(database, row)), number: column.number(row, 'last_record') })),
      );
    },
    /** In the order of the batch. */
    batchShots: async (ctx: Ctx): Promise<readonly StoredShot[]> =>
      (await database.query('SELECT * FROM shots WHERE ctx = ? ORDER BY position', ctx)).map(readShot),
  };
}

class ShotMissing extends Error {}

async function insertBatch(
  dialect: Dialect,
  session: SqlSession,
  ctx: Ctx,
  { task, number, uploads }: Batch,
): Promise<void> {
  const { query } = session;
  const add = `INSERT INTO buffers (ctx, task, status, last_record, drawn_at, batch_number) VALUES (?, ?, 'frozen', 0, ?, ?)
    ON CONFLICT (ctx) DO NOTHING`;
  await query(add, ctx, task, await session.now(), number);
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
