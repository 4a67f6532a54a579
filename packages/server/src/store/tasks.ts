/** The tasks that a server keeps. */
import { toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { TaskPolicy } from '@basa/protocol/policy';
import { column, type Row, type SqlDatabase } from '@basa/service';

export type TaskState = 'running' | 'paused' | 'finished';

export interface StoredTask {
  /** The hash of its policy. */
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  /** JSON, as the operator gave it. */
  readonly specification: string;
  readonly state: TaskState;
  /** The reason why it is finished. */
  readonly why?: string | undefined;
  readonly createdAt: number;
}

/** Statuses of batches that have not ended. */
export const OPEN = `('frozen', 'granted', 'opened')`;
/** Tables with a row for a task, each before the one it refers to. */
const OF_TASKS = ['window_sums', 'model_sums', 'places', 'epochs', 'shots', 'models', 'opened', 'batches', 'tasks'];

export interface Removal {
  readonly isRemoved: boolean;
  readonly openBatches: number;
  /** The number of deleted rows, by table. */
  readonly rows: Readonly<Record<string, number>>;
}

export function taskTables(database: SqlDatabase) {
  return {
    /** The same task again changes nothing; another one under its name is refused. */
    addTask: ({ task, policy, specification, state, createdAt }: StoredTask): Promise<void> =>
      database.transaction(async ({ query }) => {
        await query(
          `INSERT INTO tasks (task, policy, specification, state, created_at) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (task) DO NOTHING`,
          task,
          TaskPolicy.encode(policy),
          specification,
          state,
          createdAt,
        );
        const [found] = (await query('SELECT * FROM tasks WHERE task = ?', task)).map(readTask);
        if (found?.specification !== specification) throw new Error('this task exists with another specification');
      }),
    task: async (task: TaskId): Promise<StoredTask | undefined> =>
      (await database.query('SELECT * FROM tasks WHERE task = ?', task)).map(readTask)[0],
    tasks: async (): Promise<readonly StoredTask[]> =>
      (await database.query('SELECT * FROM tasks ORDER BY created_at, task')).map(readTask),
    /** All tasks, without their specifications, which may be long. */
    taskStates: async () =>
      (await database.query('SELECT task, state, why FROM tasks ORDER BY created_at, task')).map(readTaskState),
    async setTaskState(task: TaskId, state: TaskState, why?: string): Promise<void> {
      await database.query('UPDATE tasks SET state = ?, why = ? WHERE task = ?', state, why ?? null, task);
    },
    /**
     * Removes a finished task whose batches have all ended, with all its data, and returns the number of removed rows of each table.
     * Otherwise removes nothing, and returns the number of open batches. The lease stays, so that a node that was paused never sees a lower
     * fence.
     */
    removeTask: (task: TaskId): Promise<Removal> =>
      database.transaction(async ({ query }) => {
        const locked = `SELECT * FROM tasks WHERE task = ?${database.dialect.forUpdate}`;
        const [found] = (await query(locked, task)).map(readTask);
        const open = await query(`SELECT ctx FROM batches WHERE task = ? AND status IN ${OPEN}`, task);
        const isRemoved = found?.state === 'finished' && open.length === 0;
        if (!isRemoved) return { isRemoved, openBatches: open.length, rows: {} };
        const rows: Record<string, number> = {};
        const remove = async (table: string, which: string, value: TaskId | string = task): Promise<void> => {
          const [counted] = await query(`SELECT count(*) AS count FROM ${table} ${which}`, value);
          const count = counted === undefined ? 0 : column.number(counted, 'count');
          if (count > 0) rows[table] = (rows[table] ?? 0) + count;
          await query(`DELETE FROM ${table} ${which}`, value);
        };
        await remove('pieces', 'WHERE name IN (SELECT name FROM shots WHERE task = ?)');
        await remove('meta', 'WHERE name = ?', examplesNote(task));
        for (const table of OF_TASKS) await remove(table, 'WHERE task = ?');
        return { isRemoved, openBatches: 0, rows };
      }),
  };
}

/** The note with the examples on which a task is evaluated. */
export function examplesNote(task: TaskId): string {
  return `evaluation-${toHex(task)}`;
}

function readTaskState(row: Row): Pick<StoredTask, 'task' | 'state' | 'why'> {
  return {
    task: column.bytes(row, 'task') as TaskId,
    state: column.text(row, 'state') as TaskState,
    why: column.optional(row, 'why', column.text),
  };
}

function readTask(row: Row): StoredTask {
  return {
    ...readTaskState(row),
    policy: TaskPolicy.decode(column.bytes(row, 'policy')),
    specification: column.text(row, 'specification'),
    createdAt: column.number(row, 'created_at'),
  };
}
