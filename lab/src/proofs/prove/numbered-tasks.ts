/** Numbered tasks for the workers of a pool. */
import type { WorkerPool } from '@basa/runtime/node';

/** Keeps every worker busy with the tasks `first .. count - 1`; passes each answer on as it comes, with its number. */
export async function forEachTask<Task, Answer>(
  pool: WorkerPool<Task, Answer>,
  { first = 0, count }: { readonly first?: number; readonly count: number },
  taskOf: (number: number) => Task,
  onAnswer: (number: number, answer: Answer) => void,
): Promise<void> {
  let next = first;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const number = next++;
      onAnswer(number, await pool.run(taskOf(number)));
    }
  };
  await Promise.all(Array.from({ length: pool.size }, lane));
}

/** Answers come in any order: below `next` all have arrived, so a later run may continue there. */
export class Gapless {
  readonly #finished = new Set<number>();
  next: number;

  constructor(first = 0) {
    this.next = first;
  }

  add(number: number): void {
    this.#finished.add(number);
    while (this.#finished.delete(this.next)) this.next++;
  }
}
