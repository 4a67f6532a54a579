/** An operator's requests to both services, from Node or a page: tasks, tokens, revocations, logs. */

export { ProblemError, RefusedError, SettingsError, UnreachableError } from '../errors.ts';
export type { OperatorOptions } from './ask.ts';
export type { CreatedTask, CreateTaskOptions, TaskSettings } from './create-task.ts';
export { createTask, createTaskAt, TASK_DEFAULTS } from './create-task.ts';
export type { EngineName, ModeName, PolicyChoice, PrivacyChoice } from './policy.ts';
export { ENGINES, mostTolerated, quantizerOf } from './policy.ts';
export type {
  BufferState,
  ServerTask,
  ShotState,
  SuspectState,
  TaskPrivacy,
  VersionState,
} from './services.ts';
export { AuthorityOperator, hashOfToken, ServerOperator } from './services.ts';
export type { TaskSpecification } from './task-specification.ts';
