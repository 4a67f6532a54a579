/** The names that messages carry, the kind byte of every layout, and the sizes that bound every list. */
import { below, type Field, fixed, u53 } from './fields.ts';

declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** A position of a buffer, 0 .. K-1. */
export type Slot = Brand<number, 'Slot'>;
/** Milliseconds since the epoch, by some party's clock. */
export type Millis = Brand<number, 'Millis'>;
/** Name of a task: SHA-256 of its policy. */
export type TaskId = Brand<Uint8Array, 'TaskId'>;
/** Names one buffer or batch: 32 random bytes in `paper` mode, otherwise the hash of its content. */
export type Ctx = Brand<Uint8Array, 'Ctx'>;
/** u = SHA-256(device public key). */
export type UserId = Brand<Uint8Array, 'UserId'>;
/** g: 16 random bytes that name one upload of one user. */
export type JoinTag = Brand<Uint8Array, 'JoinTag'>;
/** a_k: the attribute of a position of one buffer. */
export type Attribute = Brand<Uint8Array, 'Attribute'>;

export const millis = (value: number): Millis => value as Millis;

/** The kind byte of every layout that is sent, signed or hashed. docs/wire-format.md is the table for readers. */
export const KIND = {
  certificate: 1,
  policy: 2,
  requestStatement: 20,
  pieceStatement: 24,
  revocations: 22,
  deviceExport: 23,
  vote: 27,
  epoch: 40,
  modelStatement: 41,
  liveEpochs: 42,
  shownModel: 43,
  shotHeader: 44,
  shotUpload: 45,
  inspectRequest: 46,
  inspectAnswer: 47,
  batch: 48,
  batchVoteRequest: 49,
  releaseRequest: 51,
  releaseAnswer: 52,
  maskSum: 53,
  paperConnectAnswer: 32,
  paperTicket: 33,
  paperUpload: 34,
  attribute: 65,
  sealingContext: 67,
  partContext: 73,
  partHashes: 76,
  givenVersion: 75,
  sessionAcknowledged: 115,
  sessionShot: 118,
  ledgerGiven: 121,
  bufferGranted: 133,
  bufferOpened: 139,
  bufferIncluded: 134,
  bufferQuarantined: 135,
  abortRecorded: 136,
  unknownRecorded: 137,
} as const;

/** The largest number of positions in a buffer. */
export const MAX_SLOTS = 1024;
/** The largest number of sums that one version of the model is made of, and that it leaves out. */
export const MAX_SUMS = 64;
/** The largest number of uploads in a batch of the one-shot mode. */
export const MAX_BATCH = 10_000;
/** The largest number of authorities of a task. */
export const MAX_AUTHORITIES = 8;
/** Bytes that fit all signatures of a statement. */
const ENDORSEMENT_BYTES = 2 + 65 * MAX_AUTHORITIES;

/** The size limit for a statement inside another message. */
export const STATEMENT_BYTES: number = 512 + ENDORSEMENT_BYTES;

/** Named fields that many messages have. */
export const field = {
  ctx: fixed<Ctx>(32),
  hash: fixed(32),
  joinTag: fixed<JoinTag>(16),
  millis: u53 as Field<Millis>,
  slot: below<Slot>(MAX_SLOTS),
  task: fixed<TaskId>(32),
  user: fixed<UserId>(32),
} as const;
