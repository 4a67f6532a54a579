/** Tasks over SQL. */
import type { SqlDatabase } from '@basa/service';
import { readTask, readTaskState } from './rows.ts';
import type { TaskStore } from './store.ts';

export function sqlTasks(database: SqlDatabase): TaskStore {
  return {
    addTask: ({ task, specification, state, createdAt }) =>
      database.transaction(async ({ query }) => {
        await query(
          `INSERT INTO tasks (task, specification, state, created_at) VALUES (?, ?, ?, ?)
            ON CONFLICT (task) DO NOTHING`,
          task,
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
  };
}
