/** The messages between users and server in `sealed` mode: the only messages with ciphertexts. */
import type { Suite } from '@basa/masking';
import type { Ctx, DepositRoot, JoinTag } from './brands.ts';
import { type Certificate, certificateCodec } from './certificate.ts';
import { type Codec, message, nested } from './codec.ts';
import { fixed, list, record, times, u53 } from './fields.ts';
import { KIND } from './kinds.ts';
import { leafHash, merkleLevels, merklePath, merkleRoot } from './merkle.ts';
import { field, STATEMENT_BYTES } from './named-fields.ts';
import type { BufferSealing } from './sealing.ts';
import { type Signature, type SignedCodec, signedMessage } from './signed.ts';
import { type Ticket, ticketCodec } from './slot-statements.ts';

/** Siblings on the way from a leaf to the root of at most 1024 leaves. */
export const DEEPEST = 10;

/** The statement that signs a deposit. */
export interface DepositStatement {
  readonly ctx: Ctx;
  readonly joinTag: JoinTag;
  readonly root: DepositRoot;
}

export const depositStatementCodec: SignedCodec<DepositStatement> = signedMessage(
  KIND.depositStatement,
  'depositStatement',
  {
    ctx: field.ctx,
    joinTag: field.joinTag,
    root: field.root,
  },
);

/** user -> server: asks for a seat for an update that was trained on this version. */
export interface SeatRequest {
  readonly certificate: Certificate;
  readonly version: number;
  readonly modelHash: Uint8Array;
}

export const seatRequestCodec: Codec<SeatRequest> = message<SeatRequest>(KIND.seatRequest, 'seatRequest', {
  certificate: nested(certificateCodec, STATEMENT_BYTES),
  version: u53,
  modelHash: field.hash,
});

/** A seed sealed to a slot, with the commitment to it. */
export interface SealedSeed {
  readonly commitment: Uint8Array;
  readonly sealed: Uint8Array;
}

/** user -> server. Entry n is sealed to slot n + 1: K - 1 of them. */
export interface Deposit extends Signature {
  readonly certificate: Certificate;
  readonly ctx: Ctx;
  readonly nonce: Uint8Array;
  readonly root: DepositRoot;
  readonly entries: readonly SealedSeed[];
}

/** A seed that an earlier user sealed to slot l, with the proof that it is the one for slot l of that user's deposit. */
export interface InboxEntry extends SealedSeed {
  readonly joinTag: JoinTag;
  readonly root: DepositRoot;
  readonly path: readonly Uint8Array[];
}

/** server -> user: the slot, everything sealed to it so far, and the server's signature on both. */
export interface DepositAnswer {
  readonly ticket: Ticket;
  readonly inbox: readonly InboxEntry[];
}

/** The messages with ciphertexts: between users and server only. */
export interface UserMessages {
  readonly deposit: Codec<Deposit>;
  readonly depositAnswer: Codec<DepositAnswer>;
  /** The entry that a server stores for a later slot. */
  readonly inboxEntry: Codec<InboxEntry>;
}

export function userMessages(bufferSize: number, sealing: Pick<BufferSealing, 'sealedBytes'>): UserMessages {
  const sealedSeed = { commitment: fixed(32), sealed: fixed(sealing.sealedBytes) };
  const filed = { joinTag: field.joinTag, root: field.root, path: list(DEEPEST, field.hash), ...sealedSeed };
  return {
    deposit: message<Deposit>(KIND.deposit, 'deposit', {
      certificate: nested(certificateCodec, STATEMENT_BYTES),
      ctx: field.ctx,
      nonce: fixed(16),
      root: field.root,
      entries: times(bufferSize - 1, record(sealedSeed)),
      signature: fixed(64),
    }),
    depositAnswer: message<DepositAnswer>(KIND.depositAnswer, 'depositAnswer', {
      ticket: nested(ticketCodec, STATEMENT_BYTES),
      inbox: list(bufferSize - 1, record(filed)),
    }),
    inboxEntry: message<InboxEntry>(KIND.inboxEntry, 'inboxEntry', filed),
  };
}

/** D: the root over the K - 1 sealed seeds of a deposit. */
export function depositRootOf(suite: Suite, entries: readonly SealedSeed[]): DepositRoot {
  return merkleRoot(suite, hashesOf(suite, entries)) as DepositRoot;
}

/**
 * The entries of a deposit at `slot` for users at later slots, with proofs: entry n is for slot + 1 + n. They go to
 * their inboxes.
 */
export function outboxOf(
  suite: Suite,
  { entries, root }: Deposit,
  { joinTag, slot }: Pick<Ticket, 'joinTag' | 'slot'>,
): readonly InboxEntry[] {
  const levels = merkleLevels(suite, hashesOf(suite, entries));
  return entries.slice(slot).map((entry, n) => ({ ...entry, joinTag, root, path: merklePath(levels, slot + n) }));
}

function hashesOf(suite: Suite, entries: readonly SealedSeed[]): readonly Uint8Array[] {
  return entries.map((entry, n) => leafHash(suite, { ...entry, label: n + 1 }));
}
