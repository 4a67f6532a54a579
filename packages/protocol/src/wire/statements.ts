/** The signed statements that several messages carry: certificate, descriptor, ticket, receipt, outcome, model log. */
import type { Suite } from '@basa/masking';
import { equalBytes } from '@basa/masking';
import type { Ctx, DepositRoot, JoinTag, Millis, Slot, TaskId, UserId, View } from './brands.ts';
import type { Field, Signature, SignedCodec } from './codec.ts';
import {
  below,
  checked,
  fixed,
  flag,
  list,
  nested,
  nonNegative,
  oneOf,
  positive,
  record,
  short,
  signedMessage,
  u8,
  u16,
  u32,
  u53,
} from './codec.ts';
import { KIND } from './kinds.ts';
import { metricsField } from './metrics.ts';
import { modulusField } from './modulus-field.ts';
import type { TaskPolicy } from './policy.ts';
import { MAX_SLOTS } from './policy.ts';
import { privacyField } from './privacy.ts';
import { stalenessField } from './staleness.ts';

/** The authority enrolled this device for this task, until then. */
export interface CertificateBody {
  readonly task: TaskId;
  readonly deviceKey: Uint8Array;
  /** Nothing is checked by it: it says when the certificate is due for renewal. */
  readonly issuedAt: Millis;
  readonly notAfter: Millis;
}
export type Certificate = CertificateBody & Signature;

/** One buffer, drawn and signed by the authority. How to train is not in it: a device reads that in its pinned policy. */
export interface DescriptorBody extends Omit<TaskPolicy, 'name' | 'training' | 'openMs' | 'closeMs'> {
  readonly task: TaskId;
  readonly bufferId: Uint8Array;
  /** t and the hash of w^t when the buffer was drawn. */
  readonly version: number;
  readonly modelHash: Uint8Array;
  readonly weightScale: number;
  readonly sealingKey: Uint8Array;
  readonly authorityKeyId: Uint8Array;
  readonly expiry: Millis;
  readonly closeBy: Millis;
}
export type Descriptor = DescriptorBody & Signature;

/** The server gave this slot to this deposit, and showed it these deposits before it (V_l). */
export interface TicketBody {
  readonly ctx: Ctx;
  readonly slot: Slot;
  readonly joinTag: JoinTag;
  readonly root: DepositRoot;
  readonly view: View;
  readonly deadline: Millis;
}
export type Ticket = TicketBody & Signature;

/** The authority registered this user for this slot, once, with all that it saw. */
export interface ReceiptBody {
  readonly ctx: Ctx;
  readonly slot: Slot;
  readonly joinTag: JoinTag;
  readonly root: DepositRoot;
  readonly view: View;
}
export type Receipt = ReceiptBody & Signature;

/** The key with this hash answers this request. */
export interface IssuedKeyBody {
  readonly requestDigest: Uint8Array;
  readonly keyHash: Uint8Array;
}
export type IssuedKey = IssuedKeyBody & Signature;

const OUTCOMES = ['unknown', 'open', 'aborted', 'closed'] as const;
export type OutcomeStatus = (typeof OUTCOMES)[number];

/** What became of a buffer; for a closed one, who is in the sum. */
export interface OutcomeBody {
  readonly ctx: Ctx;
  readonly status: OutcomeStatus;
  readonly accepted: readonly { readonly slot: Slot; readonly joinTag: JoinTag }[];
}
export type Outcome = OutcomeBody & Signature;

/** w^t of a task has this hash; version t > 0 comes from the sum of buffer `ctx`. */
export interface ModelEntryBody {
  readonly task: TaskId;
  readonly version: number;
  readonly modelHash: Uint8Array;
  readonly ctx: Ctx;
  readonly previous: Uint8Array;
}
export type ModelEntry = ModelEntryBody & Signature;

/** How far the authority's own log has come: shown back to it, it reveals a rolled-back authority. */
export interface HeadBody {
  /** Which life of the log: a new one begins when it was found rolled back. */
  readonly branch: Uint8Array;
  readonly sequence: number;
  /** How many devices were revoked so far: a server that knows of fewer asks who they are. */
  readonly revocations: number;
  readonly hash: Uint8Array;
}
export type Head = HeadBody & Signature;

/** This entry was the newest of its task when somebody asked with this nonce, and so far had the log come. */
export interface NewestModelBody {
  /** Of whoever asks: an answer that was kept is not taken for a new one. */
  readonly nonce: Uint8Array;
  readonly entry: ModelEntry;
  readonly head: HeadBody;
}
export type NewestModel = NewestModelBody & Signature;

/** Bytes that fit any of these statements inside another message, but for what grows with K or the sealing key. */
export const STATEMENT_BYTES = 512;
/** Bytes that fit a descriptor, whose sealing key may be a public key of CP-ABE. */
export const DESCRIPTOR_BYTES = 8192;

const millisField = u53 as Field<Millis>;
const slot = below<Slot>(MAX_SLOTS);
const hash = fixed(32);
const ctx = fixed<Ctx>(32);
const task = fixed<TaskId>(32);
const joinTag = fixed<JoinTag>(32);
const root = fixed<DepositRoot>(32);
const view = fixed<View>(32);

export const field = { ctx, hash, joinTag, root, slot, task, user: fixed<UserId>(32), view } as const;

export const certificateCodec: SignedCodec<CertificateBody> = signedMessage(KIND.certificate, 'certificate', {
  task,
  deviceKey: fixed(32),
  issuedAt: millisField,
  notAfter: millisField,
});

export const descriptorCodec: SignedCodec<DescriptorBody> = signedMessage(KIND.descriptor, 'descriptor', {
  engine: u8,
  task,
  bufferId: fixed(16),
  bufferSize: checked(u16, (value) => (value >= 2 && value <= MAX_SLOTS ? undefined : 'out of range')),
  minimum: u16,
  version: u53,
  modelHash: hash,
  dimension: u32,
  modulus: modulusField,
  level: u32,
  clip: positive,
  blockFloor: nonNegative,
  weightScale: u32,
  staleness: stalenessField,
  maxStaleness: u32,
  unsafeTinyWeights: flag,
  metrics: metricsField,
  privacy: privacyField,
  manifestHash: hash,
  sealingKey: short(4096),
  serverKey: fixed(32),
  authorityKeyId: hash,
  uploadLeaseMs: u32,
  expiry: millisField,
  closeBy: millisField,
});

export const ticketCodec: SignedCodec<TicketBody> = signedMessage(KIND.ticket, 'ticket', {
  ctx,
  slot,
  joinTag,
  root,
  view,
  deadline: millisField,
});

export const receiptCodec: SignedCodec<ReceiptBody> = signedMessage(KIND.receipt, 'receipt', {
  ctx,
  slot,
  joinTag,
  root,
  view,
});

export const issuedKeyCodec: SignedCodec<IssuedKeyBody> = signedMessage(KIND.issuedKey, 'issuedKey', {
  requestDigest: hash,
  keyHash: hash,
});

export const outcomeCodec: SignedCodec<OutcomeBody> = signedMessage(KIND.outcome, 'outcome', {
  ctx,
  status: oneOf(OUTCOMES),
  accepted: list(MAX_SLOTS, record({ slot, joinTag })),
});

export const modelEntryCodec: SignedCodec<ModelEntryBody> = signedMessage(KIND.modelEntry, 'modelEntry', {
  task,
  version: u53,
  modelHash: hash,
  ctx,
  previous: hash,
});

const headFields = { branch: fixed(16), sequence: u53, revocations: u53, hash };
export const headCodec: SignedCodec<HeadBody> = signedMessage(KIND.head, 'head', headFields);

export const newestModelCodec: SignedCodec<NewestModelBody> = signedMessage(KIND.newestModel, 'newestModel', {
  nonce: fixed(16),
  entry: nested(modelEntryCodec, STATEMENT_BYTES),
  head: record(headFields),
});

/** In the last third of its life: its device asks for another, and the authority gives one. */
export function isDueForRenewal({ issuedAt, notAfter }: CertificateBody, now: Millis): boolean {
  return now >= notAfter - (notAfter - issuedAt) / 3;
}

/** u = SHA-256(device public key). */
export function userIdOf(suite: Suite, deviceKey: Uint8Array): UserId {
  return suite.sha256(deviceKey) as UserId;
}

/** ctx = SHA-256(descriptor), over what the authority signed. */
export function ctxOf(suite: Suite, descriptor: DescriptorBody): Ctx {
  return descriptorCodec.statementHash(suite, descriptor) as Ctx;
}

/** Whether two statements are about the same user in the same slot with the same history. */
export function isSameSlot(a: SlotStatement, b: SlotStatement): boolean {
  return (
    equalBytes(a.ctx, b.ctx) &&
    a.slot === b.slot &&
    equalBytes(a.joinTag, b.joinTag) &&
    equalBytes(a.root, b.root) &&
    equalBytes(a.view, b.view)
  );
}

type SlotStatement = Pick<TicketBody, 'ctx' | 'slot' | 'joinTag' | 'root' | 'view'>;

/** Whether the statement carries a good signature of this key. */
export function isSigned<T extends object>(
  suite: Suite,
  codec: SignedCodec<T>,
  signed: T & Signature,
  publicKey: Uint8Array,
): boolean {
  return codec.isSignedBy(suite, signed, publicKey);
}
