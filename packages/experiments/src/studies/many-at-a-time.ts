/** Figures 2 and 4: hundreds of users at a time, whose updates are many versions old. */
import type { ExperimentTask } from '../tasks.ts';

/** Of a trip with all its user has, about. */
const USUAL_EXAMPLES = 200;

/**
 * How far a buffer may step falls with the age of its updates, so with the users at a time, and with what each of them trained:
 * steps as large as Table 1's swing and collapse. More and smaller steps need more versions. Chosen on FEMNIST without secure
 * aggregation, 200 users at a time. A round steps as far as in Table 1.
 */
export function forMany(task: ExperimentTask, concurrency: number): ExperimentTask {
  const examples = Math.min(task.mostExamples, USUAL_EXAMPLES);
  return {
    ...task,
    cap: { ...task.cap, buffers: task.cap.buffers * Math.max(1, concurrency / 200) },
    step: {
      ...task.step,
      buffers: { rate: Math.min(1, 2400 / (concurrency * examples)), momentum: 0 },
    },
  };
}

/** The small profile: short trips and a lower target, so that a line fits minutes. */
export function shortened(task: ExperimentTask, target: number): ExperimentTask {
  return { ...task, mostExamples: 20, target, cap: { buffers: 1200, rounds: 150 } };
}

/** What a reader must know of the tasks. */
export function notesOf(tasks: readonly ExperimentTask[]): readonly string[] {
  return [
    'Training is declared at 1 s a trip; one seed. A server step of a buffer falls with the number of users at a time (0.6 of the mean at 200): updates are about C / K versions old, and steps as large as in Table 1 collapse.',
    ...tasks.map(
      ({ dataset, isHybrid, mostExamples, target, dimension }) =>
        `${dataset}: to ${100 * target} %${Number.isFinite(mostExamples) ? `, at most ${mostExamples} examples a trip` : ''}${isHybrid ? `; hybrid: a smaller network really learns, time is charged for ${dimension.toLocaleString('en')} parameters` : ''}. The paper does not give the targets of its figures.`,
    ),
  ];
}
