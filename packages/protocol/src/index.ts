/** The protocol core: `one-shot` mode by default, `paper` mode behind names that say it is unsafe. */

export type { LiveBuffer, LiveState, LiveStep, LiveStepName, LiveVersion, PageSettings, Scores } from './http/live.ts';
export { LIVE_STEPS, SCORE_OF_LOSS, SCORES, scoresIn, shownScore } from './http/live.ts';
export type { AttemptSoFar } from './http/network.ts';
export { isCertificateReason, isLoopback, networkAdvice, networkReason, timeLeftMs } from './http/network.ts';
export type { ProblemCode, ProblemDocument, ProblemMore, ServiceProblem } from './http/problems.ts';
export {
  nextStepOf,
  PROBLEM_MEDIA_TYPE,
  problemCodeOf,
  problemDocument,
  problemOf,
  problemOfRefusal,
  refusalText,
  SERVICE_PROBLEMS,
  withDetail,
} from './http/problems.ts';
export type { RequestStatement } from './http/requests.ts';
export {
  AUTHORITY_PATH,
  HEADER,
  pieceStatement,
  ROLES_PATH,
  requestStatement,
  SERVER_PATH,
  signatureHeaders,
} from './http/requests.ts';
export type { AdmissionView, Admitted, Asked } from './one-shot/admission.ts';
export { admit, defaultPlaces, retryAfterMs, WAITING_SUMS } from './one-shot/admission.ts';
export type { Authority, Decision, Unit, UnitWrite } from './one-shot/authority.ts';
export { inspect, release, signVote, vote } from './one-shot/authority.ts';
export type { SaidBy, Voters, VoteTime, VoteWindow } from './one-shot/batching.ts';
export { pickBatch, refusedSlots, votersOf, voteWindow } from './one-shot/batching.ts';
export type { Gathered, ModelQuestion, ShotStart } from './one-shot/device.ts';
export { giveShot, receiveModel, resumeShot } from './one-shot/device.ts';
export type { EpochKeys } from './one-shot/epochs.ts';
export {
  agreementKeyOf,
  epochKeysOf,
  epochSecretOf,
  epochStatement,
  isEpochDue,
  isEpochOver,
  newestEpoch,
  openEpochs,
} from './one-shot/epochs.ts';
export type { BuiltInput, UpdateInput } from './one-shot/input.ts';
export { buildInput, buildReport } from './one-shot/input.ts';
export type {
  Device,
  DeviceLedger,
  DeviceRecord,
  DeviceStep,
  GivenUploads,
  LedgerRecord,
  PrivacySpent,
  UserPorts,
  UserRecord,
  UserSession,
} from './one-shot/ledger.ts';
export {
  budgetProblem,
  deviceRecordCodec,
  EMPTY_LEDGER,
  intervalProblem,
  isLedgerRecord,
  isSessionRecord,
  privacySpent,
  restMs,
  restoreDevice,
  versionProblem,
} from './one-shot/ledger.ts';
export type {
  ExaminedTask,
  ExaminedUpload,
  ExaminePorts,
  MaskedUpload,
  OpenedPart,
  ShotName,
  ShownEpochs,
} from './one-shot/parts.ts';
export {
  addAuthorityNoise,
  addMasksInPlace,
  examineUpload,
  openPart,
  openParts,
  packSum,
  partBinding,
  partTerm,
  sealParts,
  shownEpochs,
} from './one-shot/parts.ts';
export type { ContributeAnswer, ContributeEnd, ContributeRequest, Masking } from './one-shot/requests.ts';
export { batchProblem, leastOfVersion } from './one-shot/rules.ts';
export type { AskedSums, ClosingBatch, GuardVerdict, IntakeView, MaskSumOf, ServerPorts } from './one-shot/server.ts';
export {
  agreedSum,
  batchVote,
  distinctEpochs,
  guardVerdict,
  isMaskSumOf,
  shotProblem,
  sumPlan,
  wrongVerdicts,
} from './one-shot/server.ts';
export type {
  NextVersion,
  ShotBatch,
  StoredBatch,
  SumFact,
  SummedUpdates,
  SumState,
  SumStep,
  SumVerdict,
  VersionSum,
} from './one-shot/sums.ts';
export {
  decodeBufferRecord,
  encodeBufferRecord,
  evolveSum,
  isGranted,
  judgeCoordinates,
  judgeSum,
  loseBatch,
  nextVersion,
  openShotBatch,
  recordGrant,
  recordIncluded,
  recordOpened,
  recordQuarantine,
  versionRule,
} from './one-shot/sums.ts';
export { issuePaperKey } from './paper/authority.ts';
export type { PaperConnection, PaperTicket, PaperUpload } from './paper/messages.ts';
export { paperAttribute, paperContext, paperMessages, paperTicketCodec } from './paper/messages.ts';
export type { PaperBuffer, PaperOptions, PaperRecord } from './paper/server.ts';
export { acceptPaperUpload, connectPaper, restorePaperBuffer, tickPaper, unsafePaperBuffer } from './paper/server.ts';
export type { PaperContribution, PaperUserPorts } from './paper/user.ts';
export { contributePaper, paperInput } from './paper/user.ts';
export type { Codec, Signature, SignedCodec } from './wire/codec.ts';
export { isSigned, olderLayout, signStatement, WIRE_VERSION } from './wire/codec.ts';
export type { Council, Endorsed, EndorsedCodec, Endorsement, Vote } from './wire/council.ts';
export {
  agreedOn,
  councilSizeProblem,
  defaultThreshold,
  endorse,
  hasGoodEndorsements,
  indexOf,
  isEndorsed,
  isEndorsedByOne,
  joined,
  mostTolerated,
  Poll,
  voteCodec,
} from './wire/council.ts';
export type {
  AuthorityPorts,
  Certificate,
  CertificateBody,
  DeviceExport,
  DeviceExportBody,
  ExportedDevice,
  ImportedDevice,
  Revocations,
} from './wire/devices.ts';
export {
  certificateCodec,
  certificateProblem,
  certify,
  deviceExportCodec,
  ENROLMENT_TOKEN_BYTES,
  enrolmentHash,
  enrolmentProof,
  exporterOf,
  exportersNeeded,
  importedDevice,
  MAX_EXPORTED,
  MAX_REVOCATIONS,
  revocationsCodec,
  signRevocations,
  taskProblem,
  userIdOf,
} from './wire/devices.ts';
export type { PrefixVerdict, SumRules } from './wire/input.ts';
export {
  GUARD_WORDS,
  guardWordsOf,
  inputElements,
  judgeBehind,
  judgePrefix,
  prefixElements,
  sumRules,
  updateWords,
  writePrefix,
} from './wire/input.ts';
export type { AsyncX25519 } from './wire/key-agreement.ts';
export { agreeOnKeys } from './wire/key-agreement.ts';
export type {
  BatchVoteRequest,
  GuardWords,
  InspectAnswer,
  InspectRequest,
  MaskSum,
  MaskSumBody,
  ReleaseAnswer,
  ReleaseRequest,
  ShownUpload,
  Verdict,
  WantedSum,
} from './wire/messages.ts';
export {
  batchVoteRequestCodec,
  EPOCHS_AT_ONCE,
  inspectAnswerCodec,
  inspectRequestCodec,
  MAX_INSPECTED,
  maskSumCodec,
  releaseAnswerCodec,
  releaseRequestCodec,
} from './wire/messages.ts';
export type {
  Epoch,
  EpochBody,
  EpochName,
  LiveEpochs,
  ModelStatement,
  ModelStatementBody,
  ShownModel,
} from './wire/model.ts';
export {
  epochCodec,
  epochEnd,
  epochNameOf,
  isEpochOf,
  liveEpochsCodec,
  modelNameOf,
  modelStatementCodec,
  SHOWN_MODEL_BYTES,
  shownModelCodec,
} from './wire/model.ts';
export type { Ctx, JoinTag, Millis, Slot, TaskId, UserId } from './wire/names.ts';
export { KIND, MAX_AUTHORITIES, MAX_BATCH, MAX_SLOTS, MAX_SUMS, millis } from './wire/names.ts';
export type { Combination, OneShotPolicy, Part, Sealing } from './wire/one-shot-policy.ts';
export {
  isHolder,
  isHybrid,
  MAX_PARTS,
  ONE_SHOT_DEFAULTS,
  oneShotOf,
  partsOf,
  SEALINGS,
  sealedPartBytes,
  taskParts,
  vouchersOf,
} from './wire/one-shot-policy.ts';
export type { TaskPolicy, Versions } from './wire/policy.ts';
export {
  decodePolicy,
  defaultMinimum,
  ENGINE,
  encodePolicy,
  isSealing,
  POLICY_DEFAULTS,
  policyProblem,
  taskIdOf,
} from './wire/policy.ts';
export type { NoisyTask, PrivacyBudget, PrivacyPolicy } from './wire/privacy.ts';
export {
  BLURS_FROM,
  defaultNoise,
  epsilonAfter,
  epsilonBudget,
  type NoiseWords,
  noiseOverSignal,
  noiseWords,
  PRIVATE_FROM,
  participationsOf,
  taskCost,
  taskNoise,
  WEAK_EPSILON,
} from './wire/privacy.ts';
export type { RefusalReason, Refused } from './wire/refusals.ts';
export { granted, isRefusalReason, isRefused, REFUSALS, refused } from './wire/refusals.ts';
export type { FieldDefinitions, Report, ReportOf, StatisticsField, StatisticsPolicy } from './wire/statistics.ts';
export {
  defineFields,
  fieldsOf,
  reportWords,
  statisticsNorm,
  statisticsWords,
  windowAt,
  windowStatement,
} from './wire/statistics.ts';
export type { Bucket, FieldResult, StatisticsTask, WindowResult, WindowSums } from './wire/statistics-results.ts';
export { fieldResults, statisticsFault } from './wire/statistics-results.ts';
export type { Loss, Staleness, TaskTraining } from './wire/training.ts';
export {
  CLIPPED,
  DEFAULT_MAX_STALENESS,
  DEFAULT_TRAINING,
  MAX_METRICS,
  type MetricRange,
  stalenessWeight,
  TASK_LOSSES,
} from './wire/training.ts';
export type { BasaEvent, Transition } from './wire/transition.ts';
export type { Batch, HeldPart, ShotHeader, ShotHeaderBody, ShotLayout, ShotUpload } from './wire/upload.ts';
export {
  BATCH_BYTES,
  batchCodec,
  batchCtxOf,
  batchOf,
  frameHeader,
  givenNameOf,
  heldParts,
  partsHashOf,
  SHOT_UPLOAD_BYTES,
  shotHeaderCodec,
  shotLayout,
  shotUploadCodec,
  unframeHeader,
  uploadNameOf,
} from './wire/upload.ts';
