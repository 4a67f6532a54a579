/** What a request to close says: the same for every authority that is asked, and for the server that counts their votes. */
import type { Suite } from '@basa/masking';
import type { CloseRequestBody } from './authority-messages.ts';
import type { Slot, UserId, View } from './brands.ts';
import type { Link, Registered } from './naming.ts';
import { joinTagOf, nextView, registrationOf, viewsOf } from './naming.ts';
import type { ClosedSlot, Closing } from './statements.ts';
import { closingHash, userIdOf } from './statements.ts';

/** A deposit of the list, with what follows from the list alone. */
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
  readonly hash: Uint8Array;
}

/** What a request to close says, whoever is asked. */
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
  return { ...closing, hash: closingHash(suite, closing) };
}
