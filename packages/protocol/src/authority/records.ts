/** The records that the authority must have on disk before it answers, and the hash chain over them that anyone can verify. */
import type { Suite } from '@basa/masking';
import type { Ctx, Millis, UserId } from '../wire/brands.ts';
import { type Certificate, certificateCodec } from '../wire/certificate.ts';
import { type Codec, message, nested, nestedLong } from '../wire/codec.ts';
import { type Field, fixed, list, oneOf, optional, record, u53 } from '../wire/fields.ts';
import { KIND } from '../wire/kinds.ts';
import { type Head, headCodec, MODEL_ENTRY_BYTES, type ModelEntry, modelEntryCodec } from '../wire/model-log.ts';
import { field, STATEMENT_BYTES } from '../wire/named-fields.ts';
import { BATCH_BYTES, type Batch, batchCodec, type ListedMember, membersField } from '../wire/one-shot/batch.ts';
import { EPOCH_BYTES, type Epoch, epochCodec } from '../wire/one-shot/epoch.ts';
import { policyField, type TaskPolicy } from '../wire/policy.ts';
import { recordUnion } from '../wire/record-union.ts';

export type AuthorityRecord =
  | { readonly kind: 'task-created'; readonly policy: TaskPolicy }
  | { readonly kind: 'device-enrolled'; readonly certificate: Certificate }
  | { readonly kind: 'device-revoked'; readonly user: UserId; readonly at: Millis }
  /** Seeds may be sealed to this key of this authority. */
  | { readonly kind: 'epoch-opened'; readonly epoch: Epoch }
  | EpochEnded
  | BatchVoted
  | BatchFinal
  | { readonly kind: 'model-signed'; readonly entry: ModelEntry }
  | { readonly kind: 'model-appended'; readonly entry: ModelEntry }
  | BranchBegun;

/**
 * Its secret is destroyed. A dead epoch belongs to a log that was rolled back: nothing of it is voted for or released.
 */
interface EpochEnded {
  readonly kind: 'epoch-ended';
  readonly statement: Uint8Array;
  readonly how: 'given-up' | 'dead';
  readonly at: Millis;
}

/** A batch with its members. All of its uploads name one entry of the model log. */
export interface BatchList {
  readonly batch: Batch;
  readonly entry: Uint8Array;
  readonly version: number;
  readonly members: readonly ListedMember[];
}

/** The only vote of this authority for these uploads. */
interface BatchVoted {
  readonly kind: 'batch-voted';
  readonly list: BatchList;
  readonly at: Millis;
}

/** Enough authorities voted for the batch. The list is missing if this one voted for it before. */
interface BatchFinal {
  readonly kind: 'batch-final';
  readonly ctx: Ctx;
  readonly list: BatchList | undefined;
  readonly at: Millis;
}

/** The log was found rolled back: a new life of it begins. */
export interface BranchBegun {
  readonly kind: 'branch-begun';
  readonly branch: Uint8Array;
  /** The head that showed it, whose branch is retired by this; empty if there was no witness. */
  readonly met: readonly Head[];
}

const { ctx, hash, user } = field;
const batchListField = record<BatchList>({
  batch: nestedLong(batchCodec, BATCH_BYTES),
  entry: hash,
  version: u53,
  members: membersField,
});

const codec: Codec<AuthorityRecord> = recordUnion('authority record', {
  'task-created': message(KIND.taskCreated, 'task-created', { policy: policyField }),
  'device-enrolled': message(KIND.deviceEnrolled, 'device-enrolled', {
    certificate: nested(certificateCodec, STATEMENT_BYTES),
  }),
  'device-revoked': message(KIND.deviceRevoked, 'device-revoked', { user, at: u53 as Field<Millis> }),
  'epoch-opened': message(KIND.epochOpened, 'epoch-opened', { epoch: nested(epochCodec, EPOCH_BYTES) }),
  'epoch-ended': message(KIND.epochEnded, 'epoch-ended', {
    statement: hash,
    how: oneOf(['given-up', 'dead']),
    at: field.millis,
  }),
  'batch-voted': message(KIND.batchVoted, 'batch-voted', { list: batchListField, at: field.millis }),
  'batch-final': message(KIND.batchFinal, 'batch-final', {
    ctx,
    list: optional(batchListField),
    at: field.millis,
  }),
  'model-signed': message(KIND.modelSigned, 'model-signed', { entry: nested(modelEntryCodec, MODEL_ENTRY_BYTES) }),
  'model-appended': message(KIND.modelAppended, 'model-appended', {
    entry: nested(modelEntryCodec, MODEL_ENTRY_BYTES),
  }),
  'branch-begun': message(KIND.branchBegun, 'branch-begun', {
    branch: fixed(16),
    met: list(1, nested(headCodec, STATEMENT_BYTES)),
  }),
});

export const encodeAuthorityRecord = codec.encode;
/** Throws `DecodeError` for anything that is not a record. */
export const decodeAuthorityRecord = codec.decode;

const linkLayout = message<{ previous: Uint8Array; record: Uint8Array }>(KIND.logLink, 'logLink', {
  previous: hash,
  record: hash,
});

export const EMPTY_LOG_HASH: Uint8Array = new Uint8Array(32);

/** Hash of the log with one more record. */
export function nextLogHash(suite: Suite, previous: Uint8Array, entry: AuthorityRecord): Uint8Array {
  return linkLayout.hash(suite, { previous, record: suite.sha256(encodeAuthorityRecord(entry)) });
}
