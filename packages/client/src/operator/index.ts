/** An operator's requests to both services, from Node or a page: tasks, tokens, revocations, logs. */

export { ProblemError, RefusedError, SettingsError, UnreachableError } from '../errors.ts';
export type { OperatorOptions } from './ask.ts';
export {
  AuthorityOperator,
  enrolmentHashes,
  hashOfToken,
  newEnrolmentTokens,
  tokenForAll,
} from './authority-operator.ts';
export {
  type CreatedTask,
  type CreateTaskOptions,
  createStatisticsTask,
  createTask,
  createTaskAt,
  type StatisticsSettings,
  statisticsPolicy,
  TASK_DEFAULTS,
  type TaskSettings,
} from './create-task.ts';
export { type ModeName, makePolicy, type PolicyChoice, type PrivacyChoice } from './policy.ts';
export {
  ServerOperator,
  type ServerTask,
  type ShotState,
  type TaskPrivacy,
  type TaskSpecification,
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
