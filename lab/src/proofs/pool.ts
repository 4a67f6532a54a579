/** Numbered tasks for the workers of a pool. */
import type { WorkerPool } from '@basa/runtime/node';

/** Keeps every worker busy with the tasks `0 .. count - 1`; passes each answer on as it comes, with its number. */
export async function forEachTask<Task, Answer>(
  pool: WorkerPool<Task, Answer>,
  count: number,
  taskOf: (number: number) => Task,
  onAnswer: (number: number, answer: Answer) => void,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const number = next++;
      onAnswer(number, await pool.run(taskOf(number)));
    }
  };
  await Promise.all(Array.from({ length: pool.size }, lane));
}
