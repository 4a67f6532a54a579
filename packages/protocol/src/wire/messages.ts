/** Messages 3 (inspect), 4 (vote) and 5 (release): the server's requests to an authority. None of them can hold a masked vector of a device. */

import { type Message, message, nested, nestedLong, type Signature, type SignedCodec, signedMessage } from './codec.ts';
import { type Endorsement, endorsementsField } from './council.ts';
import { Certificate } from './devices.ts';
import {
  type Ctx,
  type Field,
  field,
  flag,
  KIND,
  list,
  long,
  MAX_AUTHORITIES,
  MAX_BATCH,
  oneOf,
  optional,
  record,
  STATEMENT_BYTES,
  type TaskId,
  times,
  u16,
  u32,
} from './fields.ts';
import { GUARD_WORDS } from './input.ts';
import { EPOCH_BYTES, Epoch } from './model.ts';
import { MAX_PARTS, type Part } from './one-shot-policy.ts';
import { type RefusalReason, reasonField } from './refusals.ts';
import { BATCH_BYTES, Batch, SEALED_PARTS_BYTES, SHOT_HEADER_BYTES, ShotHeader } from './upload.ts';

/** An upload without its vector. */
export interface ShownUpload {
  readonly certificate: Certificate;
  readonly header: ShotHeader;
  /** The sealed parts as they are in the body. */
  readonly sealed: Uint8Array;
}

const shownField: Field<ShownUpload> = record({
  certificate: nested(Certificate, STATEMENT_BYTES),
  header: nested(ShotHeader, SHOT_HEADER_BYTES),
  sealed: long(SEALED_PARTS_BYTES),
});

/** At most this many uploads are inspected by one request. */
export const MAX_INSPECTED = 256;

/** More than the number of epochs of one authority at a time that are not given up. */
export const EPOCHS_AT_ONCE = 16;
const MAX_EPOCHS = EPOCHS_AT_ONCE * MAX_AUTHORITIES;

const epochsField = list(MAX_EPOCHS, nested(Epoch, EPOCH_BYTES));

/** server -> authority: asks for a verdict on these uploads. */
interface InspectRequestBody {
  readonly task: TaskId;
  /** The epochs that the uploads name, once for all of them. */
  readonly epochs: readonly Epoch[];
  readonly uploads: readonly ShownUpload[];
}
export type InspectRequest = InspectRequestBody & Signature;

export const InspectRequest: SignedCodec<InspectRequestBody> = signedMessage(KIND.inspectRequest, 'inspectRequest', {
  task: field.task,
  epochs: epochsField,
  uploads: list(MAX_INSPECTED, shownField),
});

/** The mask words of the eight guard positions of one part. */
export interface GuardWords {
  readonly part: Part;
  readonly words: readonly number[];
}

/** `used`: the name of the upload is in a batch. `abstain`: its epoch has ended here, so it is not for this authority to say. */
const VERDICTS = ['good', 'bad', 'used', 'abstain'] as const;

export interface Verdict {
  /** The name of the upload. */
  readonly upload: Ctx;
  readonly verdict: (typeof VERDICTS)[number];
  /** The reason why it is bad. */
  readonly reason: RefusalReason | undefined;
  /** The batch in which its name was used. */
  readonly used: Ctx | undefined;
  /** For the parts that this authority holds, if the upload is good. */
  readonly guards: readonly GuardWords[];
}

interface InspectAnswerBody {
  readonly task: TaskId;
  readonly verdicts: readonly Verdict[];
}
export type InspectAnswer = InspectAnswerBody & Signature;

export const InspectAnswer: SignedCodec<InspectAnswerBody> = signedMessage(KIND.inspectAnswer, 'inspectAnswer', {
  task: field.task,
  verdicts: list(
    MAX_INSPECTED,
    record<Verdict>({
      upload: field.ctx,
      verdict: oneOf(VERDICTS),
      reason: optional(reasonField),
      used: optional(field.ctx),
      guards: list(MAX_PARTS, record<GuardWords>({ part: u16, words: times(GUARD_WORDS, u32) })),
    }),
  ),
});

/** server -> authority: asks for a vote for this batch, whose uploads it has inspected. */
interface BatchVoteRequestBody {
  readonly batch: Batch;
}
export type BatchVoteRequest = BatchVoteRequestBody & Signature;

const batchField = nestedLong(Batch, BATCH_BYTES);

export const BatchVoteRequest: SignedCodec<BatchVoteRequestBody> = signedMessage(
  KIND.batchVoteRequest,
  'batchVoteRequest',
  { batch: batchField },
);

/** A requested sum of masks: the vector, or only its signed hash. */
export interface WantedSum {
  readonly part: Part;
  readonly vector: boolean;
}

/** server -> authority: asks for the sums of the masks, after enough authorities voted. */
interface ReleaseRequestBody {
  readonly batch: Batch;
  readonly votes: readonly Endorsement[];
  readonly epochs: readonly Epoch[];
  /** In the order of the batch. */
  readonly uploads: readonly ShownUpload[];
  readonly wanted: readonly WantedSum[];
}
export type ReleaseRequest = ReleaseRequestBody & Signature;

export const ReleaseRequest: SignedCodec<ReleaseRequestBody> = signedMessage(KIND.releaseRequest, 'releaseRequest', {
  batch: batchField,
  votes: endorsementsField,
  epochs: epochsField,
  uploads: list(MAX_BATCH, shownField),
  wanted: list(MAX_PARTS, record<WantedSum>({ part: u16, vector: flag })),
});

/** The packed sum of the masks of one part over one batch has this hash. */
interface MaskSumBody {
  readonly task: TaskId;
  readonly ctx: Ctx;
  readonly part: Part;
  readonly hash: Uint8Array;
}
export type MaskSum = MaskSumBody & Signature;

export const MaskSum: SignedCodec<MaskSumBody> = signedMessage(KIND.maskSum, 'maskSum', {
  task: field.task,
  ctx: field.ctx,
  part: u16,
  hash: field.hash,
});

/** authority -> server, before the requested vectors, in the same order. */
export interface ReleaseAnswer {
  readonly sums: readonly MaskSum[];
}

export const ReleaseAnswer: Message<ReleaseAnswer> = message<ReleaseAnswer>(KIND.releaseAnswer, 'releaseAnswer', {
  sums: list(MAX_PARTS, nested(MaskSum, STATEMENT_BYTES)),
});
