/** The signed statements that several messages carry: certificate, descriptor, ticket, receipt, vote, outcome, model log. */
import type { Suite } from '@basa/masking';
import { equalBytes, toHex } from '@basa/masking';
import type { Ctx, DepositRoot, JoinTag, Millis, Registration, Slot, TaskId, UserId, View } from './brands.ts';
import type { Field, Signature, SignedCodec } from './codec.ts';
import {
  below,
  checked,
  fixed,
  flag,
  list,
  message,
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
import type { Council, Endorsed, EndorsedCodec } from './council.ts';
import { authoritiesField, ENDORSEMENT_BYTES, endorsedMessage, MAX_AUTHORITIES } from './council.ts';
import { KIND } from './kinds.ts';
import { metricsField } from './metrics.ts';
import { modulusField } from './modulus-field.ts';
import type { TaskPolicy } from './policy.ts';
import { MAX_SLOTS } from './policy.ts';
import { privacyField } from './privacy.ts';
import { stalenessField } from './staleness.ts';

/** The authorities enrolled this device for this task, until then. */
export interface CertificateBody {
  readonly task: TaskId;
  readonly deviceKey: Uint8Array;
  /** Nothing is checked by it: it says when the certificate is due for renewal. */
  readonly issuedAt: Millis;
  readonly notAfter: Millis;
}
export type Certificate = CertificateBody & Endorsed;

/** What one authority brings to a buffer: the keys that it made for it alone. */
export interface BufferPart {
  /** Its index. */
  readonly authority: number;
  /** 16 random bytes of the authority: the keys of its part are made of them. */
  readonly offer: Uint8Array;
  /** Slot keys: the name of the key epoch and the hash of the list. CP-ABE: the public key. */
  readonly sealingKey: Uint8Array;
}

/**
 * One buffer, signed by every authority that has a part in it: a part that its owner did not sign could be the server's own. How
 * to train is not in it: a device reads that in its pinned policy.
 */
export interface DescriptorBody extends Omit<TaskPolicy, 'name' | 'training' | 'openMs' | 'closeMs'> {
  readonly task: TaskId;
  /** Of at least `threshold` authorities, by rising index. */
  readonly parts: readonly BufferPart[];
  /** t and the hash of w^t when the buffer was drawn. */
  readonly version: number;
  readonly modelHash: Uint8Array;
  readonly weightScale: number;
  readonly expiry: Millis;
  readonly closeBy: Millis;
}
export type Descriptor = DescriptorBody & Endorsed;

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

/** The authorities registered this user for this slot, once, with all that it saw. */
export interface ReceiptBody {
  readonly ctx: Ctx;
  readonly slot: Slot;
  readonly joinTag: JoinTag;
  readonly root: DepositRoot;
  readonly view: View;
}
export type Receipt = ReceiptBody & Endorsed;

/** The key with this hash answers this request. */
export interface IssuedKeyBody {
  readonly requestDigest: Uint8Array;
  readonly keyHash: Uint8Array;
}
export type IssuedKey = IssuedKeyBody & Signature;

/** An accepted slot of a close, with what its self seed hangs on. */
export interface ClosedSlot {
  readonly slot: Slot;
  readonly joinTag: JoinTag;
  readonly registration: Registration;
  /** R of the sealed self seed, from the header that its device signed. */
  readonly selfName: Uint8Array;
}

/** A buffer ends with this set over these deposits. It is hashed, and voted for by its hash. */
export interface Closing {
  readonly ctx: Ctx;
  /** How many deposits there are, and V over all of them. */
  readonly deposits: number;
  readonly view: View;
  readonly accepted: readonly ClosedSlot[];
}

/** The authority votes for this close and, in this buffer, for no other. */
export interface VoteBody {
  readonly task: TaskId;
  readonly ctx: Ctx;
  readonly closing: Uint8Array;
}
export type Vote = VoteBody & Endorsed;

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
export type ModelEntry = ModelEntryBody & Endorsed;

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
export const STATEMENT_BYTES: number = 512 + ENDORSEMENT_BYTES;
/** Bytes that fit a descriptor, whose sealing key may be a public key of CP-ABE. */
export const DESCRIPTOR_BYTES: number = 8192 + ENDORSEMENT_BYTES;

const millisField = u53 as Field<Millis>;
const slot = below<Slot>(MAX_SLOTS);
const hash = fixed(32);
const ctx = fixed<Ctx>(32);
const task = fixed<TaskId>(32);
const joinTag = fixed<JoinTag>(32);
const root = fixed<DepositRoot>(32);
const view = fixed<View>(32);

export const field = { ctx, hash, joinTag, root, slot, task, user: fixed<UserId>(32), view } as const;

export const certificateCodec: EndorsedCodec<CertificateBody> = endorsedMessage(KIND.certificate, 'certificate', {
  task,
  deviceKey: fixed(32),
  issuedAt: millisField,
  notAfter: millisField,
});

export const partField: Field<BufferPart> = record({ authority: u8, offer: fixed(16), sealingKey: short(4096) });
export const partsField: Field<readonly BufferPart[]> = checked(list(MAX_AUTHORITIES, partField), (all) =>
  all.some(({ authority }, n) => authority <= (all[n - 1]?.authority ?? -1)) ? 'not by rising index' : undefined,
);

export const descriptorCodec: EndorsedCodec<DescriptorBody> = endorsedMessage(KIND.descriptor, 'descriptor', {
  authorities: authoritiesField,
  threshold: u8,
  unsafeThreshold: flag,
  engine: u8,
  task,
  parts: partsField,
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
  serverKey: fixed(32),
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

export const receiptCodec: EndorsedCodec<ReceiptBody> = endorsedMessage(KIND.receipt, 'receipt', {
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

const closingLayout = message<Closing>(KIND.closing, 'closing', {
  ctx,
  deposits: u16,
  view,
  accepted: list(MAX_SLOTS, record({ slot, joinTag, registration: fixed<Registration>(32), selfName: short(32) })),
});

/** What a vote names. */
export function closingHash(suite: Suite, closing: Closing): Uint8Array {
  return closingLayout.hash(suite, closing);
}

export const voteCodec: EndorsedCodec<VoteBody> = endorsedMessage(KIND.vote, 'vote', {
  task,
  ctx,
  closing: hash,
});

export const outcomeCodec: SignedCodec<OutcomeBody> = signedMessage(KIND.outcome, 'outcome', {
  ctx,
  status: oneOf(OUTCOMES),
  accepted: list(MAX_SLOTS, record({ slot, joinTag })),
});

export const modelEntryCodec: EndorsedCodec<ModelEntryBody> = endorsedMessage(KIND.modelEntry, 'modelEntry', {
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

/** What one authority says became of a buffer. */
export interface OutcomeOf {
  /** Its index. */
  readonly authority: number;
  readonly outcome: Outcome;
}

/** Whether the authority signed this, about this buffer. */
export function isOutcomeOf(
  suite: Suite,
  { authorities }: Pick<Council, 'authorities'>,
  wanted: Ctx,
  { authority, outcome }: OutcomeOf,
): boolean {
  const key = authorities[authority];
  return key !== undefined && equalBytes(outcome.ctx, wanted) && isSigned(suite, outcomeCodec, outcome, key);
}

/** What enough authorities say alike became of the buffer; undefined where they do not agree, or one of them was not heard. */
export function agreedOutcome(
  suite: Suite,
  { authorities, threshold }: Council,
  wanted: Ctx,
  answers: readonly OutcomeOf[],
): OutcomeBody | undefined {
  const votes = new Map<string, Set<number>>();
  for (const { authority, outcome } of answers) {
    if (!isOutcomeOf(suite, { authorities }, wanted, { authority, outcome })) continue;
    const words = toHex(outcomeCodec.statementHash(suite, outcome));
    const alike = votes.get(words) ?? new Set<number>();
    votes.set(words, alike.add(authority));
    if (alike.size >= threshold) return outcome;
  }
  return undefined;
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
