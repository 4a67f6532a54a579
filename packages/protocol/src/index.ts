/** The protocol core: `one-shot` mode by default, `paper` mode behind names that say it is unsafe. */
export type { AdmissionView, Admitted, Asked } from './admission/admission.ts';
export { admit, defaultPlaces, retryAfterMs, WAITING_SUMS } from './admission/admission.ts';
export type { AuthorityPorts } from './authority/enrolment.ts';
export { certify, signRevocations, taskProblem } from './authority/enrolment.ts';
export type { LiveBuffer, LiveState, LiveStep, LiveStepName, LiveVersion, PageSettings, Scores } from './http/live.ts';
export { LIVE_STEPS, SCORE_OF_LOSS, SCORES, scoresIn, shownScore } from './http/live.ts';
export { isLoopback } from './http/loopback.ts';
export { isCertificateReason, networkAdvice, networkReason } from './http/network-errors.ts';
export { nextStepOf, refusalText, withDetail } from './http/next-steps.ts';
export type { AttemptSoFar } from './http/patience.ts';
export { timeLeftMs } from './http/patience.ts';
export type { ProblemCode, ProblemDocument, ProblemMore, ServiceProblem } from './http/problems.ts';
export {
  PROBLEM_MEDIA_TYPE,
  problemCodeOf,
  problemDocument,
  problemOf,
  problemOfRefusal,
  SERVICE_PROBLEMS,
} from './http/problems.ts';
export type { RequestStatement } from './http/request-statement.ts';
export { HEADER, pieceStatement, requestStatement, signatureHeaders } from './http/request-statement.ts';
export { AUTHORITY_PATH, ROLES_PATH, SERVER_PATH } from './http/routes.ts';
export type { Authority, Decision, Unit, UnitWrite } from './one-shot/authority.ts';
export { inspect, release, signVote, vote } from './one-shot/authority.ts';
export type { EpochKeys } from './one-shot/epoch-keys.ts';
export { agreementKeyOf, epochKeysOf, epochSecretOf } from './one-shot/epoch-keys.ts';
export { epochStatement, isEpochDue, isEpochOver, newestEpoch, openEpochs } from './one-shot/epochs.ts';
export type { ExaminedTask, ExaminedUpload, ExaminePorts, OpenedPart, ShownEpochs } from './one-shot/examine.ts';
export { examineUpload, openParts, shownEpochs } from './one-shot/examine.ts';
export type { MaskedUpload } from './one-shot/mask-sums.ts';
export { addMasksInPlace, packSum } from './one-shot/mask-sums.ts';
export { addAuthorityNoise } from './one-shot/noise.ts';
export { issuePaperKey } from './paper/authority.ts';
export type { PaperConnection, PaperTicket, PaperUpload } from './paper/messages.ts';
export { paperMessages, paperTicketCodec } from './paper/messages.ts';
export type { PaperBuffer, PaperOptions, PaperRecord } from './paper/server.ts';
export { acceptPaperUpload, connectPaper, restorePaperBuffer, tickPaper, unsafePaperBuffer } from './paper/server.ts';
export type { PaperContribution, PaperUserPorts } from './paper/user.ts';
export { contributePaper, paperInput } from './paper/user.ts';
export { certificateProblem } from './server/enrolled.ts';
export type { SummedUpdates, SumVerdict } from './server/judge-sum.ts';
export { judgeCoordinates, judgeSum } from './server/judge-sum.ts';
export type { ShotBatch, StoredBatch } from './server/one-shot/batch.ts';
export { loseBatch, openShotBatch } from './server/one-shot/batch.ts';
export type { VoteTime, VoteWindow } from './server/one-shot/batching.ts';
export { pickBatch, refusedSlots, voteWindow } from './server/one-shot/batching.ts';
export type { AskedSums, ClosingBatch, MaskSumOf } from './server/one-shot/closing.ts';
export { agreedSum, batchVote, isMaskSumOf, sumPlan } from './server/one-shot/closing.ts';
export type { GuardVerdict, IntakeView } from './server/one-shot/intake.ts';
export { distinctEpochs, guardVerdict, shotProblem, wrongVerdicts } from './server/one-shot/intake.ts';
export type { SaidBy, Voters } from './server/one-shot/voters.ts';
export { votersOf } from './server/one-shot/voters.ts';
export type { ServerPorts } from './server/ports.ts';
export { decodeBufferRecord, encodeBufferRecord } from './server/records.ts';
export type { SumFact, SumState, SumStep } from './server/sum-state.ts';
export {
  evolveSum,
  isGranted,
  recordGrant,
  recordIncluded,
  recordOpened,
  recordQuarantine,
} from './server/sum-state.ts';
export type { NextVersion, VersionSum } from './server/version-sums.ts';
export { nextVersion, versionRule } from './server/version-sums.ts';
export type { PrivacySpent } from './user/budget.ts';
export { budgetProblem, privacySpent } from './user/budget.ts';
export type { Device, DeviceRecord, DeviceStep } from './user/device.ts';
export { isLedgerRecord, isSessionRecord, restoreDevice } from './user/device.ts';
export type { BuiltInput, UpdateInput } from './user/input.ts';
export { buildInput } from './user/input.ts';
export type { DeviceLedger, GivenUploads, LedgerRecord } from './user/ledger.ts';
export { EMPTY_LEDGER, intervalProblem, restMs, versionProblem } from './user/ledger.ts';
export type { ShotStart } from './user/one-shot/shot.ts';
export { giveShot, resumeShot } from './user/one-shot/shot.ts';
export type { Gathered, ModelQuestion } from './user/one-shot/shown-model.ts';
export { receiveModel } from './user/one-shot/shown-model.ts';
export { deviceRecordCodec } from './user/records.ts';
export { buildReport } from './user/report.ts';
export type { ContributeAnswer, ContributeEnd, ContributeRequest, Masking } from './user/requests.ts';
export type { UserPorts, UserRecord, UserSession } from './user/session.ts';
export type { Revocations } from './wire/authority-messages.ts';
export { MAX_REVOCATIONS, revocationsCodec } from './wire/authority-messages.ts';
export type { Ctx, JoinTag, Millis, Slot, TaskId, UserId } from './wire/brands.ts';
export { millis } from './wire/brands.ts';
export type { Certificate, CertificateBody } from './wire/certificate.ts';
export { certificateCodec, userIdOf } from './wire/certificate.ts';
export type { Codec } from './wire/codec.ts';
export { olderLayout, WIRE_VERSION } from './wire/codec.ts';
export type { Council, Endorsed, EndorsedCodec, Endorsement } from './wire/council.ts';
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
  MAX_AUTHORITIES,
  mostTolerated,
} from './wire/council.ts';
export type { DeviceExport, DeviceExportBody, ExportedDevice, ImportedDevice } from './wire/device-export.ts';
export { deviceExportCodec, exporterOf, exportersNeeded, importedDevice, MAX_EXPORTED } from './wire/device-export.ts';
export { ENROLMENT_TOKEN_BYTES, enrolmentHash, enrolmentProof } from './wire/enrolment-proof.ts';
export type { BasaEvent } from './wire/events.ts';
export type { PrefixVerdict } from './wire/input-words.ts';
export {
  GUARD_WORDS,
  guardWordsOf,
  inputElements,
  judgeBehind,
  judgePrefix,
  prefixElements,
  updateWords,
  writePrefix,
} from './wire/input-words.ts';
export type { AsyncX25519 } from './wire/key-agreement.ts';
export { agreeOnKeys } from './wire/key-agreement.ts';
export { KIND } from './wire/kinds.ts';
export { MAX_BATCH, MAX_SLOTS, MAX_SUMS } from './wire/limits.ts';
export { CLIPPED, MAX_METRICS, type MetricRange } from './wire/metrics.ts';
export type { LiveEpochs, ModelStatement, ModelStatementBody, ShownModel } from './wire/model.ts';
export {
  liveEpochsCodec,
  modelNameOf,
  modelStatementCodec,
  SHOWN_MODEL_BYTES,
  shownModelCodec,
} from './wire/model.ts';
export { paperAttribute, paperContext } from './wire/naming.ts';
export { BLURS_FROM, type NoiseWords, noiseWords, WEAK_EPSILON } from './wire/noise-words.ts';
export type { Batch } from './wire/one-shot/batch.ts';
export { BATCH_BYTES, batchCodec, batchCtxOf, batchOf, givenNameOf } from './wire/one-shot/batch.ts';
export { batchProblem, leastOfVersion } from './wire/one-shot/batch-rules.ts';
export type { Epoch, EpochBody, EpochName } from './wire/one-shot/epoch.ts';
export {
  epochCodec,
  epochEnd,
  epochNameOf,
  isEpochOf,
} from './wire/one-shot/epoch.ts';
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
} from './wire/one-shot/messages.ts';
export {
  batchVoteRequestCodec,
  EPOCHS_AT_ONCE,
  inspectAnswerCodec,
  inspectRequestCodec,
  MAX_INSPECTED,
  maskSumCodec,
  releaseAnswerCodec,
  releaseRequestCodec,
} from './wire/one-shot/messages.ts';
export type { ShotName } from './wire/one-shot/part-sealing.ts';
export { openPart, partBinding, partTerm, sealParts } from './wire/one-shot/part-sealing.ts';
export type { Part } from './wire/one-shot/parts.ts';
export { isHolder, oneShotOf, partsOf, taskParts } from './wire/one-shot/parts.ts';
export type { Combination, OneShotPolicy } from './wire/one-shot/policy.ts';
export { MAX_PARTS, ONE_SHOT_DEFAULTS, vouchersOf } from './wire/one-shot/policy.ts';
export type { Sealing } from './wire/one-shot/sealings.ts';
export { isHybrid, SEALINGS, sealedPartBytes } from './wire/one-shot/sealings.ts';
export type { HeldPart, ShotHeader, ShotHeaderBody, ShotLayout, ShotUpload } from './wire/one-shot/upload.ts';
export {
  heldParts,
  partsHashOf,
  SHOT_UPLOAD_BYTES,
  shotHeaderCodec,
  shotLayout,
  shotUploadCodec,
  uploadNameOf,
} from './wire/one-shot/upload.ts';
export type { TaskPolicy, Versions } from './wire/policy.ts';
export { decodePolicy, defaultMinimum, ENGINE, encodePolicy, POLICY_DEFAULTS, taskIdOf } from './wire/policy.ts';
export { isSealing, policyProblem } from './wire/policy-problem.ts';
export { Poll } from './wire/poll.ts';
export type { NoisyTask, PrivacyBudget, PrivacyPolicy } from './wire/privacy.ts';
export {
  defaultNoise,
  epsilonAfter,
  epsilonBudget,
  noiseOverSignal,
  PRIVATE_FROM,
  participationsOf,
  taskCost,
  taskNoise,
} from './wire/privacy.ts';
export type { RefusalReason, Refused } from './wire/refusals.ts';
export { granted, isRefusalReason, isRefused, REFUSALS, refused } from './wire/refusals.ts';
export type { Signature, SignedCodec } from './wire/signed.ts';
export { isSigned, signStatement } from './wire/signed.ts';
export type { Staleness } from './wire/staleness.ts';
export { DEFAULT_MAX_STALENESS, stalenessWeight } from './wire/staleness.ts';
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
export type { SumRules } from './wire/sum-rules.ts';
export { sumRules } from './wire/sum-rules.ts';
export type { Loss, TaskTraining } from './wire/training.ts';
export { DEFAULT_TRAINING, TASK_LOSSES } from './wire/training.ts';
export type { Transition } from './wire/transition.ts';
export { frameHeader, unframeHeader } from './wire/upload-frame.ts';
export type { Vote } from './wire/vote.ts';
export { voteCodec } from './wire/vote.ts';
