/** Figures 2 and 4: hundreds of users at a time, whose updates are many versions old. */
import type { Profile } from '../context.ts';
import type { ExperimentTask } from '../tasks.ts';

/** Of a trip with all its user has, about. */
const USUAL_EXAMPLES = 200;

/** Users times examples times step. Too far in the small profile, which is left as it was run: see its results. */
const STRIDES: Readonly<Record<Profile, number>> = { smoke: 2400, small: 2400, full: 1000 };

/**
 * How far a buffer may step falls with the age of its updates, so with the users at a time, and with what each of them trained:
 * steps as large as Table 1's swing and collapse. A round steps as far as in Table 1.
 */
export function forMany(task: ExperimentTask, concurrency: number, profile: Profile): ExperimentTask {
  const examples = Math.min(task.mostExamples, USUAL_EXAMPLES);
  return {
    ...task,
    cap: { ...task.cap, buffers: task.cap.buffers * Math.max(1, concurrency / 200) },
    step: { ...task.step, buffers: { rate: Math.min(1, STRIDES[profile] / (concurrency * examples)), momentum: 0 } },
  };
}

/** The small profile: short trips and a lower target, so that a line fits minutes. */
export function shortened(task: ExperimentTask, target: number): ExperimentTask {
  return { ...task, mostExamples: 20, target, cap: { buffers: 1200, rounds: 150 } };
}

/** What a reader must know of a task, and of the steps it takes. */
export function noteOf(
  { dataset, isHybrid, mostExamples, target, dimension }: ExperimentTask,
  { step }: ExperimentTask,
): string {
  const parts = [
    `${dataset}: to ${100 * target} %`,
    ...(Number.isFinite(mostExamples) ? [`at most ${mostExamples} examples a trip`] : []),
    `a buffer steps by ${step.buffers.rate} of its mean`,
    ...(isHybrid
      ? [`hybrid: a smaller network really learns, time is charged for ${dimension.toLocaleString('en')} parameters`]
      : []),
  ];
  return `${parts.join('; ')}. The paper does not give the targets of its figures.`;
}
