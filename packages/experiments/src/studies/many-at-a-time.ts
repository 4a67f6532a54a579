/** Figures 2 and 4: hundreds of users at a time, whose updates are many versions old. */
import type { ExperimentTask } from '../tasks.ts';

/** Of a trip with all its user has, about. */
const USUAL_EXAMPLES = 200;

/**
 * How far a buffer may step falls with the age of its updates, so with the users at a time, and with what each of them trained:
 * steps as large as Table 1's swing and collapse. `stride` is users times examples times step. A round steps as far as in Table 1.
 */
export function forMany(task: ExperimentTask, concurrency: number, stride: number): ExperimentTask {
  const examples = Math.min(task.mostExamples, USUAL_EXAMPLES);
  return {
    ...task,
    cap: { ...task.cap, buffers: task.cap.buffers * Math.max(1, concurrency / 200) },
    step: { ...task.step, buffers: { rate: Math.min(1, stride / (concurrency * examples)), momentum: 0 } },
  };
}

/** Chosen on FEMNIST: at 2,400 every run collapsed in which all updates were twenty versions old. */
export const STRIDE = 1000;

/** Threads that open sums: one carries 26 updates a second of 1.2 million parameters, and what it cannot carry piles up. */
export const OPENERS = 4;

/** The small profile: short trips and a lower target, so that a line fits minutes. */
export function shortened(task: ExperimentTask, target: number, buffers: number): ExperimentTask {
  return { ...task, mostExamples: 20, target, cap: { buffers, rounds: 150 } };
}

/** What a reader must know of a task. */
export function noteOf({ dataset, isHybrid, mostExamples, target, dimension }: ExperimentTask): string {
  const parts = [
    `${dataset}: to ${100 * target} %`,
    ...(Number.isFinite(mostExamples) ? [`at most ${mostExamples} examples a trip`] : []),
    ...(isHybrid
      ? [`hybrid: a smaller network really learns, time is charged for ${dimension.toLocaleString('en')} parameters`]
      : []),
  ];
  return `${parts.join('; ')}. The paper does not give the targets of its figures.`;
}
