/** The policy of a task: its rules, their defaults and problems, noise and budgets, statistics. */
export { MAX_AUTHORITIES, MAX_BATCH } from './wire/fields.ts';
export * as OneShotRules from './wire/one-shot-policy.ts';
export { ONE_SHOT_DEFAULTS, type OneShotPolicy, type Part, type Sealing } from './wire/one-shot-policy.ts';
export {
  defaultMinimum,
  ENGINE,
  isSealing,
  POLICY_DEFAULTS,
  policyProblem,
  TaskPolicy,
  taskIdOf,
} from './wire/policy.ts';
export * as Privacy from './wire/privacy.ts';
export * as Statistics from './wire/statistics.ts';
export { defineFields, type FieldDefinitions, type ReportOf } from './wire/statistics.ts';
export { type FieldResult, fieldResults, type WindowResult, type WindowSums } from './wire/statistics-results.ts';
export * as Training from './wire/training.ts';
