/** The statements that server and authorities sign about a slot: the ticket, the receipt, the issued key. */
import { equalBytes } from '@basa/masking';
import type { Ctx, DepositRoot, JoinTag, Millis, Slot, View } from './brands.ts';
import { type Endorsed, type EndorsedCodec, endorsedMessage } from './council.ts';
import { KIND } from './kinds.ts';
import { field } from './named-fields.ts';
import { type Signature, type SignedCodec, signedMessage } from './signed.ts';

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

/** The authorities registered this user for this slot, once, with everything that it saw. */
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

const { ctx, hash, joinTag, millis, root, slot, view } = field;

export const ticketCodec: SignedCodec<TicketBody> = signedMessage(KIND.ticket, 'ticket', {
  ctx,
  slot,
  joinTag,
  root,
  view,
  deadline: millis,
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

/** True if two statements are about the same user in the same slot with the same history. */
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
