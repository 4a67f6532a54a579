/** The messages and their bytes: each name is the type of a message and its codec. Signatures of one and of several authorities. */
export { type Codec, isSigned, olderLayout, signStatement } from './wire/codec.ts';
export * as Councils from './wire/council.ts';
export { type Endorsement, Vote } from './wire/council.ts';
export * as Devices from './wire/devices.ts';
export { Certificate } from './wire/devices.ts';
export { KIND } from './wire/fields.ts';
export * as InputWords from './wire/input.ts';
export {
  BatchVoteRequest,
  EPOCHS_AT_ONCE,
  InspectAnswer,
  InspectRequest,
  MAX_INSPECTED,
  MaskSum,
  ReleaseAnswer,
  ReleaseRequest,
  type ShownUpload,
  type Verdict,
  type WantedSum,
} from './wire/messages.ts';
export {
  Epoch,
  epochEnd,
  epochNameOf,
  isEpochOf,
  LiveEpochs,
  ModelStatement,
  modelNameOf,
  ShownModel,
} from './wire/model.ts';
export {
  BATCH_BYTES,
  Batch,
  batchCtxOf,
  batchOf,
  frameHeader,
  heldParts,
  partsHashOf,
  ShotHeader,
  ShotUpload,
  shotLayout,
  unframeHeader,
  uploadNameOf,
} from './wire/upload.ts';
