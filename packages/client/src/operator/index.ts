/** An operator's requests to both services, from Node or a page: tasks, tokens, revocations, logs. */

export { ProblemError, RefusedError, SettingsError, UnreachableError } from '../errors.ts';
export type { OperatorOptions } from './ask.ts';
export { AuthorityOperator, hashOfToken, tokenForAll } from './authority-operator.ts';
export {
  type CreatedTask,
  type CreateTaskOptions,
  createTask,
  createTaskAt,
  TASK_DEFAULTS,
  type TaskSettings,
} from './create-task.ts';
export { enrolmentHashes, newEnrolmentTokens } from './enrolment.ts';
export { type ModeName, makePolicy, type PolicyChoice, type PrivacyChoice } from './policy.ts';
export {
  ServerOperator,
  type ServerTask,
  type ShotState,
  type TaskPrivacy,
  type VersionState,
} from './server-operator.ts';
export {
  type Begun,
  beginSignIn,
  type DeviceCode,
  endSignIn,
  type SignedIn,
  type SignInPlace,
  signInByDevice,
} from './sign-in.ts';
export { createStatisticsTask, type StatisticsSettings, statisticsPolicy } from './statistics-task.ts';
export type { TaskSpecification } from './task-specification.ts';
