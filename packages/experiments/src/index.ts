/** Every table and figure of the paper, and ours. */

export type { Changes } from './cells/changes.ts';
export { countedSealings } from './costs/counted-sealings.ts';
export { cpuMs } from './costs/cpu-time.ts';
export type { Account, Book, Counted } from './costs/meter.ts';
export { accountIn, Meter, median } from './costs/meter.ts';
export { nodeTools } from './costs/needs.ts';
export { CAREFUL, HASTY, NoisyMachineError } from './costs/sampling.ts';
export type { Ordering, Outcome, Table } from './report/outcome.ts';
export type { Claim } from './report/summary.ts';
export { readClaims } from './report/summary.ts';
export { figureSvg } from './report/svg.ts';
export type { Profile, Study } from './run/context.ts';
export type { OwnRun, SimulatedVersion, SimulateOptions } from './run/own-simulation.ts';
export { simulateOwn } from './run/own-simulation.ts';
export type { RunOptions } from './run/run-study.ts';
export { measureFor, runStudies } from './run/run-study.ts';
export { paddedSealings } from './simulation/padded-sealings.ts';
export { STUDIES } from './studies/all.ts';
export type { LearnTask, TaskName } from './tasks/learning-tasks.ts';
export { openTask, TASK_NAMES } from './tasks/learning-tasks.ts';
