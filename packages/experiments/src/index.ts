/** Every table and figure of the paper, and ours. */
export type { LearnTask, TaskName } from './learning-tasks.ts';
export { openTask, TASK_NAMES } from './learning-tasks.ts';
export { paddedSealings } from './simulation/padded-sealings.ts';
