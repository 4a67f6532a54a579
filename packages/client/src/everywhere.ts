/** The exports that the SDK has on Node and in browsers alike. */

export { type Gathering, gatheringText, refusalText } from '@basa/protocol/http';
export { defineFields, type FieldDefinitions, type ReportOf } from '@basa/protocol/policy';
export type { Abortable, ContributeOptions, ReportOptions } from './basa-client.ts';
export type { DeviceSigner, DeviceStore } from './device/device-store.ts';
export { DEFAULT_FLOOR, type Floor, type PrivacyFloor } from './device/floor.ts';
export { inMemoryStoreForTests } from './device/memory-store.ts';
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
export type { RoundTrainer, RunOptions, RunSummary, Training } from './run/run.ts';
export { AuthorityClient } from './services/authority-client.ts';
export { DEFAULT_RETRY, type RetryOptions } from './services/retry.ts';
export { ServerClient, type UploadFate } from './services/server-client.ts';
export { type LinkOptions, ServiceLink } from './services/service-link.ts';
export type { Place } from './session/admission.ts';
export type { ClientEvents } from './session/client-events.ts';
export type { Contribution, Costs, Rejection, Step } from './session/contribution.ts';
export type { FetchedModel } from './session/model-fetch.ts';
