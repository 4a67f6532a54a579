/** The content of a request to close: the same for every authority that is asked, and for the server that counts their votes. */
import type { Suite } from '@basa/masking';
import type { CloseRequestBody } from './authority-messages.ts';
import type { Ctx, JoinTag, Registration, Slot, UserId, View } from './brands.ts';
import { userIdOf } from './certificate.ts';
import { message } from './codec.ts';
import { list, record, short, u16 } from './fields.ts';
import { KIND } from './kinds.ts';
import { MAX_SLOTS } from './limits.ts';
import { field } from './named-fields.ts';
import { joinTagOf, type Link, nextView, type Registered, registrationOf, viewsOf } from './naming.ts';

/** An accepted slot of a close, with the data on which its self seed depends. */
export interface ClosedSlot {
  readonly slot: Slot;
  readonly joinTag: JoinTag;
  readonly registration: Registration;
  /** R of the sealed self seed, from the header that its device signed. */
  readonly selfName: Uint8Array;
}

/** A buffer ends with this set over these deposits. It is hashed, and voted for by its hash. */
interface Closing {
  readonly ctx: Ctx;
  /** The number of deposits, and V over all of them. */
  readonly deposits: number;
  readonly view: View;
  readonly accepted: readonly ClosedSlot[];
}

const { ctx, joinTag, registration, slot, view } = field;

const closingLayout = message<Closing>(KIND.closing, 'closing', {
  ctx,
  deposits: u16,
  view,
  accepted: list(MAX_SLOTS, record({ slot, joinTag, registration, selfName: short(32) })),
});

/** A deposit of the list, with the values that follow from only the list. */
export interface ListedSlot extends Registered {
  readonly user: UserId;
  readonly deviceKey: Uint8Array;
  readonly signature: Uint8Array;
}

export function listedSlots(suite: Suite, { ctx, deposits }: CloseRequestBody): readonly ListedSlot[] {
  const users = deposits.map(({ deviceKey }) => userIdOf(suite, deviceKey));
  const links = deposits.map(({ nonce, root }, slot) => ({
    joinTag: joinTagOf(suite, { ctx, user: users[slot] as UserId, nonce }),
    root,
  }));
  const views = viewsOf(suite, ctx, links);
  return deposits.map(({ deviceKey, signature }, slot) => ({
    ...(links[slot] as Link),
    ctx,
    slot: slot as Slot,
    view: views[slot] as View,
    user: users[slot] as UserId,
    deviceKey,
    signature,
  }));
}

export interface HashedClosing extends Closing {
  /** The hash that a vote names. */
  readonly hash: Uint8Array;
}

/** The content of a request to close, which does not depend on the recipient. */
export function closingOf(
  suite: Suite,
  { ctx, headers }: CloseRequestBody,
  listed: readonly ListedSlot[],
): HashedClosing {
  const accepted = headers.map(({ slot, selfName }): ClosedSlot => {
    const own = listed[slot] as ListedSlot;
    return { slot, joinTag: own.joinTag, registration: registrationOf(suite, own), selfName };
  });
  const last = listed.at(-1);
  const view = last === undefined ? (ctx as Uint8Array as View) : nextView(suite, last.view, last.slot, last);
  const closing: Closing = { ctx, deposits: listed.length, view, accepted };
  return { ...closing, hash: closingLayout.hash(suite, closing) };
}
