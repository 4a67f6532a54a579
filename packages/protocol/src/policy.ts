/** The policy of a task: its rules, their defaults and problems, noise and budgets, statistics. */
export { type Council, defaultThreshold, mostTolerated } from './wire/council.ts';
export { MAX_AUTHORITIES, MAX_BATCH } from './wire/fields.ts';
export {
  isHolder,
  isHybrid,
  MAX_PARTS,
  ONE_SHOT_DEFAULTS,
  type OneShotPolicy,
  oneShotOf,
  type Part,
  partsOf,
  SEALINGS,
  type Sealing,
  sealedPartBytes,
  taskParts,
  vouchersOf,
} from './wire/one-shot-policy.ts';
export {
  decodePolicy,
  defaultMinimum,
  ENGINE,
  encodePolicy,
  isSealing,
  POLICY_DEFAULTS,
  policyProblem,
  type TaskPolicy,
  taskIdOf,
  type Versions,
} from './wire/policy.ts';
export {
  BLURS_FROM,
  defaultNoise,
  epsilonAfter,
  epsilonBudget,
  type NoiseWords,
  noiseOverSignal,
  noiseWords,
  PRIVATE_FROM,
  type PrivacyPolicy,
  participationsOf,
  taskCost,
  taskNoise,
  WEAK_EPSILON,
} from './wire/privacy.ts';
export {
  defineFields,
  type FieldDefinitions,
  fieldsOf,
  type Report,
  type ReportOf,
  reportWords,
  type StatisticsField,
  type StatisticsPolicy,
  statisticsNorm,
  statisticsWords,
  windowAt,
  windowStatement,
} from './wire/statistics.ts';
export { type FieldResult, fieldResults, type WindowResult, type WindowSums } from './wire/statistics-results.ts';
export {
  CLIPPED,
  DEFAULT_MAX_STALENESS,
  DEFAULT_TRAINING,
  type Loss,
  MAX_METRICS,
  type MetricRange,
  type Staleness,
  stalenessWeight,
  type TaskTraining,
} from './wire/training.ts';
