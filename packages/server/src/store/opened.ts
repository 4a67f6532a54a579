/** Opened sums that wait for their version. Their means are in blobs; they are forgotten when they have ended. */
import type { Ctx, TaskId } from '@basa/protocol';
import { column, type Row, type SqlDatabase, type SqlSession } from '@basa/service';

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

export function openedTables(database: SqlDatabase) {
  return {
    /** In the order in which they were opened. */
    openedSums: async (task: TaskId): Promise<readonly WaitingSum[]> =>
      (await database.query(WAITING, task)).map(readOpened),
  };
}

/** Runs in the transaction of the step that records it. */
export async function insertOpened(
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
