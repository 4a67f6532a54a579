/** A protocol on a task in virtual time: real training, measured costs. `basa simulate` and the laboratory's experiments run on it. */

export {
  CELL,
  type Cell,
  type Compute,
  exponential,
  isOneVersion,
  isSynchronous,
  LEVEL,
  needsOf,
  PROTOCOLS,
  type ProtocolName,
  type ScheduledTask,
  scheduleCell,
  type TimedSchedule,
} from './cells/cell.ts';
export { partiesOf } from './cells/parties.ts';
export { orderDigest, scheduleOf } from './cells/trajectory.ts';
export { Charges } from './costs/charges.ts';
export type { Costs, Profile, SealingPrices, Share } from './costs/costs.ts';
export { THREE_OF_FOUR } from './costs/councils.ts';
export { countedSealings } from './costs/counted-sealings.ts';
export { cpuMs } from './costs/cpu-time.ts';
export { lightSecAggWork } from './costs/lightsecagg-operations.ts';
export { type Account, accountIn, type Book, type Counted, Meter, median } from './costs/meter.ts';
export { allNeeds, type CostNeeds, measureCosts, nodeTools } from './costs/needs.ts';
export { PROFILED_NAMES, type ProfiledName } from './costs/profiles.ts';
export {
  CAREFUL,
  calmer,
  HASTY,
  MAX_SPREAD,
  NoisyMachineError,
  type Sampled,
  type Sampling,
  sample,
  secondLook,
} from './costs/sampling.ts';
export { escapeText } from './report/escape.ts';
export { meanInterval, studentQuantile } from './report/interval.ts';
export { STYLE } from './report/style.ts';
export { type Figure, figureSvg } from './report/svg.ts';
export { type OwnRun, type SimulatedVersion, type SimulateOptions, simulateOwn } from './run/own-simulation.ts';
export { type SimulatedWindow, type StatisticsOptions, simulateStatistics } from './run/statistics-simulation.ts';
export { type Trained, type TrainOrder, trainOrder } from './training/train-order.ts';
export type { LearnTask } from './training/train-update.ts';
