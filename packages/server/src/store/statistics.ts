/** The sums of the windows of a statistics task: each batch adds its own once. */
import type { Ctx, TaskId, WindowSums } from '@basa/protocol';
import { column, type SqlDatabase } from '@basa/service';
import { checkFence, type Fence } from './leases.ts';

export interface WindowSum {
  readonly ctx: Ctx;
  readonly task: TaskId;
  readonly window: number;
  readonly devices: number;
  readonly sums: readonly number[];
}

const ADD = `INSERT INTO window_sums (ctx, task, version, devices, sums) VALUES (?, ?, ?, ?, ?) ON CONFLICT (ctx) DO NOTHING`;
const LOST = `SELECT s.version, COUNT(*) AS number FROM shots s LEFT JOIN batches b ON b.ctx = s.ctx
  WHERE s.task = ? AND s.version >= ? AND (s.status IN ('refused', 'over') OR b.status IN ('unknown', 'quarantined'))
  GROUP BY s.version`;

export function statisticsTables(database: SqlDatabase) {
  return {
    /** The same sum again changes nothing. */
    addWindowSum: ({ ctx, task, window, devices, sums }: WindowSum, fence?: Fence): Promise<void> =>
      database.transaction(async (session) => {
        await checkFence(database, session, fence);
        await session.query(ADD, ctx, task, window, devices, JSON.stringify(sums));
      }),
    /** The window of a sum. */
    windowOf: async (ctx: Ctx): Promise<number | undefined> => {
      const [row] = await database.query('SELECT version FROM window_sums WHERE ctx = ?', ctx);
      return row && column.number(row, 'version');
    },
    /** The newest window with a sum. */
    lastWindow: async (task: TaskId): Promise<number | undefined> => {
      const newest = 'SELECT version FROM window_sums WHERE task = ? ORDER BY version DESC LIMIT 1';
      const [row] = await database.query(newest, task);
      return row && column.number(row, 'version');
    },
    /** Over all batches of each window from this one on. */
    windowSums: async (task: TaskId, from: number): Promise<ReadonlyMap<number, WindowSums>> => {
      const all = new Map<number, WindowSums>();
      const rows = await database.query('SELECT * FROM window_sums WHERE task = ? AND version >= ?', task, from);
      for (const row of rows) {
        const [window, devices] = [column.number(row, 'version'), column.number(row, 'devices')];
        const sums = JSON.parse(column.text(row, 'sums')) as readonly number[];
        const before = all.get(window) ?? { devices: 0, batches: 0, sums: sums.map(() => 0) };
        all.set(window, {
          devices: before.devices + devices,
          batches: before.batches + 1,
          sums: sums.map((sum, n) => sum + (before.sums[n] as number)),
        });
      }
      return all;
    },
    /** The reports of each window from this one on that are in no sum, and will be in none. */
    lostReports: async (task: TaskId, from: number): Promise<ReadonlyMap<number, number>> => {
      const rows = await database.query(LOST, task, from);
      return new Map(rows.map((row) => [column.number(row, 'version'), column.number(row, 'number')]));
    },
  };
}
