/** The messages from users and server to an authority: no message here can hold a ciphertext or an update. */
import type { Ctx, DepositRoot, JoinTag, Millis, Slot, TaskId, UserId, View } from './brands.ts';
import { type Certificate, certificateCodec } from './certificate.ts';
import { type Codec, message, nested } from './codec.ts';
import { type Endorsement, endorsementsField } from './council.ts';
import { type BufferPart, partsField } from './descriptor.ts';
import { below, type Field, fixed, increasing, list, oneOf, record, short, u53 } from './fields.ts';
import { KIND } from './kinds.ts';
import { MAX_SUMS } from './limits.ts';
import { MODEL_ENTRY_BYTES, type ModelEntry, modelEntryCodec, sumsFields } from './model-log.ts';
import { field, STATEMENT_BYTES } from './named-fields.ts';
import { type Outcome, outcomeCodec } from './outcome.ts';
import { type Signature, type SignedCodec, signedMessage } from './signed.ts';
import {
  type IssuedKey,
  issuedKeyCodec,
  type Receipt,
  receiptCodec,
  type Ticket,
  ticketCodec,
} from './slot-statements.ts';
import { type Vote, voteCodec } from './vote.ts';

/** Bytes that fit a key of any engine, bare or in its envelope. */
const KEY = 1024;
/** Bytes that fit the name of a sealed self seed. */
export const SELF_NAME_BYTES = 32;

/** user -> authority. `earlier` is the user's view: the deposits before its slot. */
export interface KeyRequestBody {
  readonly certificate: Certificate;
  readonly nonce: Uint8Array;
  readonly ticket: Ticket;
  readonly earlier: readonly { readonly joinTag: JoinTag; readonly root: DepositRoot }[];
  readonly ephemeralKey: Uint8Array;
}
export type KeyRequest = KeyRequestBody & Signature;

/** authority -> user: the key of edge(l) in an envelope only the ephemeral key opens. */
export interface KeyAnswer {
  readonly envelope: Uint8Array;
  readonly receipt: Receipt;
  readonly issued: IssuedKey;
}

/** user -> server, before the body: the body's properties, its recipient, and the edges that did not open. */
export interface UploadHeaderBody {
  readonly ctx: Ctx;
  readonly slot: Slot;
  readonly joinTag: JoinTag;
  readonly view: View;
  /** R of the sealed self seed, so that the device signs which seed the server may ask the authority to open. Empty with CP-ABE. */
  readonly selfName: Uint8Array;
  readonly bodyHash: Uint8Array;
  readonly voids: readonly Slot[];
  readonly receipt: Receipt;
}
export type UploadHeader = UploadHeaderBody & Signature;

/**
 * server -> authority: every deposit in slot order, the accepted slots, and their headers. Without votes it asks for the authority's
 * own; with enough of them, for the keys.
 */
export interface CloseRequestBody {
  readonly ctx: Ctx;
  readonly deposits: readonly {
    readonly deviceKey: Uint8Array;
    readonly nonce: Uint8Array;
    readonly root: DepositRoot;
    readonly signature: Uint8Array;
  }[];
  readonly accepted: readonly Slot[];
  readonly headers: readonly UploadHeader[];
  /** For the close that this request describes. */
  readonly votes: readonly Endorsement[];
}
export type CloseRequest = CloseRequestBody & Signature;

const KEY_ROLES = ['self', 'edge'] as const;
/** The key of an accepted slot's self seed, or the edge key of any other slot. */
export interface ReleasedKey {
  readonly slot: Slot;
  readonly role: (typeof KEY_ROLES)[number];
  readonly key: Uint8Array;
}

/**
 * authority -> server: its vote and, if there are enough votes, one key for each slot. There is no key for a slot whose record at the
 * authority names another user.
 */
interface CloseAnswerBody {
  readonly vote: Vote;
  /** Open before the close is decided. */
  readonly outcome: Outcome;
  readonly keys: readonly ReleasedKey[];
}
export type CloseAnswer = CloseAnswerBody & Signature;

/** server -> authority: asks for its offer for a buffer of this task. */
export interface OfferRequestBody {
  readonly task: TaskId;
}
export type OfferRequest = OfferRequestBody & Signature;

export const offerRequestCodec: SignedCodec<OfferRequestBody> = signedMessage(KIND.offerRequest, 'offerRequest', {
  task: field.task,
});

/** The server's plan from several offers. */
export interface BufferPlan {
  readonly parts: readonly BufferPart[];
  readonly expiry: Millis;
}

/**
 * server -> authority: asks it to draw a buffer. The same nonce gets the same buffer. With several authorities it contains the descriptor
 * for all of them to sign. A single authority chooses the values.
 */
export interface BufferRequestBody {
  readonly task: TaskId;
  readonly nonce: Uint8Array;
  /** The version of the model that the buffer is drawn for. */
  readonly model: ModelEntry;
  /** The newest version. An authority that was down learns about it, and a rolled-back authority is detected with it. */
  readonly newest: ModelEntry;
  /** At most one. */
  readonly plan: readonly BufferPlan[];
}
export type BufferRequest = BufferRequestBody & Signature;

export const bufferRequestCodec: SignedCodec<BufferRequestBody> = signedMessage(KIND.bufferRequest, 'bufferRequest', {
  task: field.task,
  nonce: fixed(16),
  model: nested(modelEntryCodec, MODEL_ENTRY_BYTES),
  newest: nested(modelEntryCodec, MODEL_ENTRY_BYTES),
  plan: list(1, record<BufferPlan>({ parts: partsField, expiry: u53 as Field<Millis> })),
});

/** server -> authority: this buffer can never have enough updates; end it now instead of at closeBy. */
export interface AbortRequestBody {
  readonly ctx: Ctx;
}
export type AbortRequest = AbortRequestBody & Signature;

export const abortRequestCodec: SignedCodec<AbortRequestBody> = signedMessage(KIND.abortRequest, 'abortRequest', {
  ctx: field.ctx,
});

/** server -> authority: the next version of the model has this hash and comes from these sums (none for version 0). */
export interface ModelAppendBody {
  readonly task: TaskId;
  readonly version: number;
  readonly modelHash: Uint8Array;
  readonly sums: readonly Ctx[];
  readonly spoilt: readonly Ctx[];
  /** The votes for them, for an authority that had no part in one. */
  readonly closed: readonly Vote[];
}
export type ModelAppend = ModelAppendBody & Signature;

/** Bytes that fit an append: it names sums with the votes for each of them. */
export const MODEL_APPEND_BYTES: number = MODEL_ENTRY_BYTES + 2 * MAX_SUMS * STATEMENT_BYTES;

export const modelAppendCodec: SignedCodec<ModelAppendBody> = signedMessage(KIND.modelAppend, 'modelAppend', {
  task: field.task,
  version: u53,
  modelHash: field.hash,
  ...sumsFields,
  closed: list(2 * MAX_SUMS, nested(voteCodec, STATEMENT_BYTES)),
});

/** server -> authority: asks for the devices that were revoked after this number. */
export interface RevocationRequestBody {
  readonly task: TaskId;
  readonly after: number;
}
export type RevocationRequest = RevocationRequestBody & Signature;

export const revocationRequestCodec: SignedCodec<RevocationRequestBody> = signedMessage(
  KIND.revocationRequest,
  'revocationRequest',
  { task: field.task, after: u53 },
);

/** authority -> server: of the revocations after number `after` up to number `upTo`, these are devices of the task. */
export interface RevocationsBody {
  readonly task: TaskId;
  /** The numbers are those of this life of the log. */
  readonly branch: Uint8Array;
  readonly after: number;
  readonly upTo: number;
  readonly users: readonly UserId[];
}
export type Revocations = RevocationsBody & Signature;

/** The largest number in one answer. */
export const MAX_REVOCATIONS = 1024;

export const revocationsCodec: SignedCodec<RevocationsBody> = signedMessage(KIND.revocations, 'revocations', {
  task: field.task,
  branch: fixed(16),
  after: u53,
  upTo: u53,
  users: list(MAX_REVOCATIONS, field.user),
});

/** The messages of the authority, and the header it must check: none can hold a ciphertext or an update. */
export interface AuthorityMessages {
  readonly keyRequest: SignedCodec<KeyRequestBody>;
  readonly keyAnswer: Codec<KeyAnswer>;
  readonly uploadHeader: SignedCodec<UploadHeaderBody>;
  readonly closeRequest: SignedCodec<CloseRequestBody>;
  readonly closeAnswer: SignedCodec<CloseAnswerBody>;
}

/** The codecs for buffers of this size, each made on demand. */
export function authorityMessages(bufferSize: number): AuthorityMessages {
  return {
    get uploadHeader() {
      return uploadHeaderCodec(bufferSize);
    },
    get keyRequest() {
      return signedMessage<KeyRequestBody>(KIND.keyRequest, 'keyRequest', {
        certificate: nested(certificateCodec, STATEMENT_BYTES),
        nonce: fixed(16),
        ticket: nested(ticketCodec, STATEMENT_BYTES),
        earlier: list(bufferSize - 1, record({ joinTag: field.joinTag, root: field.root })),
        ephemeralKey: fixed(32),
      });
    },
    keyAnswer: keyAnswerCodec,
    get closeRequest() {
      return signedMessage<CloseRequestBody>(KIND.closeRequest, 'closeRequest', {
        ctx: field.ctx,
        deposits: list(
          bufferSize,
          record({ deviceKey: fixed(32), nonce: fixed(16), root: field.root, signature: fixed(64) }),
        ),
        accepted: increasing<Slot>(bufferSize),
        headers: list(bufferSize, nested(uploadHeaderCodec(bufferSize), headerBytes(bufferSize))),
        votes: endorsementsField,
      });
    },
    get closeAnswer() {
      return signedMessage<CloseAnswerBody>(KIND.closeAnswer, 'closeAnswer', {
        vote: nested(voteCodec, STATEMENT_BYTES),
        outcome: nested(outcomeCodec, STATEMENT_BYTES + 34 * bufferSize),
        keys: list(bufferSize, record({ slot: below<Slot>(bufferSize), role: oneOf(KEY_ROLES), key: short(KEY) })),
      });
    },
  };
}

const keyAnswerCodec = message<KeyAnswer>(KIND.keyAnswer, 'keyAnswer', {
  envelope: short(KEY),
  receipt: nested(receiptCodec, STATEMENT_BYTES),
  issued: nested(issuedKeyCodec, STATEMENT_BYTES),
});

/** Bytes that fit a header: its receipt, and as many void slots as there may be. */
export function headerBytes(bufferSize: number): number {
  return 2 * STATEMENT_BYTES + 2 * bufferSize;
}

function uploadHeaderCodec(bufferSize: number): SignedCodec<UploadHeaderBody> {
  return signedMessage<UploadHeaderBody>(KIND.uploadHeader, 'uploadHeader', {
    ctx: field.ctx,
    slot: below<Slot>(bufferSize),
    joinTag: field.joinTag,
    view: field.view,
    selfName: short(SELF_NAME_BYTES),
    bodyHash: field.hash,
    voids: increasing<Slot>(bufferSize),
    receipt: nested(receiptCodec, STATEMENT_BYTES),
  });
}
