/** What the authority must have on disk before it answers, and the hash chain over it that anyone can verify. */
import type { Suite } from '@basa/masking';
import { SELF_NAME_BYTES } from '../wire/authority-messages.ts';
import type { Ctx, DepositRoot, JoinTag, Millis, Registration, Slot, UserId, View } from '../wire/brands.ts';
import { type Certificate, certificateCodec } from '../wire/certificate.ts';
import type { ClosedSlot } from '../wire/closing.ts';
import { type Codec, message, nested } from '../wire/codec.ts';
import { DESCRIPTOR_BYTES, descriptorCodec, type SignedDescriptor } from '../wire/descriptor.ts';
import { type Field, fixed, increasing, list, record, short, u53 } from '../wire/fields.ts';
import { KIND } from '../wire/kinds.ts';
import { type Head, headCodec, type ModelEntry, modelEntryCodec } from '../wire/model-log.ts';
import { field, STATEMENT_BYTES } from '../wire/named-fields.ts';
import { MAX_SLOTS, policyField, type TaskPolicy } from '../wire/policy.ts';
import { recordUnion } from '../wire/record-union.ts';

export type AuthorityRecord =
  | { readonly kind: 'task-created'; readonly policy: TaskPolicy }
  | { readonly kind: 'device-enrolled'; readonly certificate: Certificate }
  | { readonly kind: 'device-revoked'; readonly user: UserId; readonly at: Millis }
  | { readonly kind: 'buffer-drawn'; readonly nonce: Uint8Array; readonly descriptor: SignedDescriptor }
  | KeyIssued
  | BufferVoted
  | BufferClosed
  | { readonly kind: 'buffer-aborted'; readonly ctx: Ctx }
  | { readonly kind: 'buffer-unknown'; readonly ctx: Ctx }
  | { readonly kind: 'model-signed'; readonly entry: ModelEntry }
  | { readonly kind: 'model-appended'; readonly entry: ModelEntry }
  | BranchBegun;

/** The buffer ended without a close that is known here. */
export type BufferLost = Extract<AuthorityRecord, { kind: 'buffer-aborted' | 'buffer-unknown' }>;

/** The log was found rolled back: a new life of it begins. */
export interface BranchBegun {
  readonly kind: 'branch-begun';
  readonly branch: Uint8Array;
  /** The head that showed it, whose branch is retired by this; none where there was no witness. */
  readonly met: readonly Head[];
}

export interface KeyIssued {
  readonly kind: 'key-issued';
  readonly ctx: Ctx;
  readonly slot: Slot;
  readonly user: UserId;
  readonly deviceKey: Uint8Array;
  readonly joinTag: JoinTag;
  readonly root: DepositRoot;
  readonly view: View;
  readonly requestDigest: Uint8Array;
}

/** The one vote of this authority in this buffer, before there are enough of them. */
interface BufferVoted {
  readonly kind: 'buffer-voted';
  readonly ctx: Ctx;
  /** The hash of the close. */
  readonly closing: Uint8Array;
}

/** Enough authorities voted for this close: it is final. */
export interface BufferClosed {
  readonly kind: 'buffer-closed';
  readonly ctx: Ctx;
  readonly closing: Uint8Array;
  readonly accepted: readonly ClosedSlot[];
  /** Slots whose record here names somebody else: no key of them leaves. */
  readonly withheld: readonly Slot[];
}

const { ctx, hash, joinTag, root, slot, user, view } = field;
const closedSlots = list(
  MAX_SLOTS,
  record({ slot, joinTag, registration: fixed<Registration>(32), selfName: short(SELF_NAME_BYTES) }),
);

const codec: Codec<AuthorityRecord> = recordUnion('authority record', {
  'task-created': message(KIND.taskCreated, 'task-created', { policy: policyField }),
  'device-enrolled': message(KIND.deviceEnrolled, 'device-enrolled', {
    certificate: nested(certificateCodec, STATEMENT_BYTES),
  }),
  'device-revoked': message(KIND.deviceRevoked, 'device-revoked', { user, at: u53 as Field<Millis> }),
  'buffer-drawn': message(KIND.bufferDrawn, 'buffer-drawn', {
    nonce: fixed(16),
    descriptor: nested(descriptorCodec, DESCRIPTOR_BYTES),
  }),
  'key-issued': message(KIND.keyIssued, 'key-issued', {
    ctx,
    slot,
    user,
    deviceKey: fixed(32),
    joinTag,
    root,
    view,
    requestDigest: hash,
  }),
  'buffer-voted': message(KIND.bufferVoted, 'buffer-voted', { ctx, closing: hash }),
  'buffer-closed': message(KIND.bufferClosed, 'buffer-closed', {
    ctx,
    closing: hash,
    accepted: closedSlots,
    withheld: increasing<Slot>(MAX_SLOTS),
  }),
  'buffer-aborted': message(KIND.bufferAborted, 'buffer-aborted', { ctx }),
  'buffer-unknown': message(KIND.bufferUnknown, 'buffer-unknown', { ctx }),
  'model-signed': message(KIND.modelSigned, 'model-signed', { entry: nested(modelEntryCodec, STATEMENT_BYTES) }),
  'model-appended': message(KIND.modelAppended, 'model-appended', { entry: nested(modelEntryCodec, STATEMENT_BYTES) }),
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
