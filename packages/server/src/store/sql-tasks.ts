/** Tasks over SQL. */
import { encodePolicy } from '@basa/protocol';
import type { SqlDatabase } from '@basa/service';
import { readTask, readTaskState } from './rows.ts';
import { OPEN } from './sql-buffers.ts';
import { examplesNote, type TaskStore } from './task-store.ts';

/** Tables with a row for a task, each before the one it refers to. Burnt slots count against a device whatever the task. */
const OF_TASKS = [
  'seats',
  'places',
  'waiting',
  'unfinished_slots',
  'revoked_devices',
  'revocation_marks',
  'suspicions',
  'sums',
  'models',
  'buffers',
  'tasks',
];
const OF_BUFFERS = ['records', 'deposits', 'inboxes', 'pieces'];

export function sqlTasks(database: SqlDatabase): TaskStore {
  return {
    addTask: ({ task, policy, specification, state, createdAt }) =>
      database.transaction(async ({ query }) => {
        await query(
          `INSERT INTO tasks (task, policy, specification, state, created_at) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (task) DO NOTHING`,
          task,
          encodePolicy(policy),
          specification,
          state,
          createdAt,
        );
        const [found] = (await query('SELECT * FROM tasks WHERE task = ?', task)).map(readTask);
        if (found?.specification !== specification) throw new Error('this task exists with another specification');
      }),
    task: async (task) => (await database.query('SELECT * FROM tasks WHERE task = ?', task)).map(readTask)[0],
    tasks: async () => (await database.query('SELECT * FROM tasks ORDER BY created_at, task')).map(readTask),
    taskStates: async () =>
      (await database.query('SELECT task, state, why FROM tasks ORDER BY created_at, task')).map(readTaskState),
    async setTaskState(task, state, why) {
      await database.query('UPDATE tasks SET state = ?, why = ? WHERE task = ?', state, why ?? null, task);
    },
    removeTask: (task) =>
      database.transaction(async ({ query }) => {
        const locked = `SELECT * FROM tasks WHERE task = ?${database.dialect.forUpdate}`;
        const [found] = (await query(locked, task)).map(readTask);
        const open = await query(`SELECT ctx FROM buffers WHERE task = ? AND status IN ${OPEN}`, task);
        const isRemoved = found?.state === 'finished' && open.length === 0;
        if (!isRemoved) return { isRemoved, openBuffers: open.length };
        const ofTask = 'WHERE ctx IN (SELECT ctx FROM buffers WHERE task = ?)';
        for (const table of OF_BUFFERS) await query(`DELETE FROM ${table} ${ofTask}`, task);
        await query('DELETE FROM meta WHERE name = ?', examplesNote(task));
        for (const table of OF_TASKS) await query(`DELETE FROM ${table} WHERE task = ?`, task);
        return { isRemoved, openBuffers: 0 };
      }),
  };
}
