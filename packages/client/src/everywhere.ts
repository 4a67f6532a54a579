/** The exports that the SDK has on Node and in browsers alike. */

export { type Gathering, gatheringText, refusalText } from '@basa/protocol/http';
export { defineFields, type FieldDefinitions, type ReportOf } from '@basa/protocol/policy';
export type { Abortable, ContributeOptions, ReportOptions } from './client.ts';
export { DEFAULT_FLOOR, type Floor, type PrivacyFloor } from './device/floor.ts';
export { type DeviceSigner, type DeviceStore, inMemoryStoreForTests } from './device/store.ts';
export {
  AnswerError,
  CertificateError,
  ProblemError,
  RefusedError,
  SettingsError,
  StoreError,
  UnreachableError,
} from './errors.ts';
export type { Outside } from './outside.ts';
export type { RoundTrainer, RunOptions, RunSummary, Training } from './run.ts';
export { DEFAULT_RETRY, type RetryOptions } from './services/attempts.ts';
export { AuthorityClient } from './services/authorities.ts';
export { type LinkOptions, ServiceLink } from './services/link.ts';
export { ServerClient, type UploadFate } from './services/server-client.ts';
export type { Place } from './session/context.ts';
export type { FetchedModel } from './session/models.ts';
export type { ClientEvents, Contribution, Costs, Rejection, Step } from './session/results.ts';
