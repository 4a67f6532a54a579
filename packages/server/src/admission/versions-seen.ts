/** The newest versions when devices asked for their places and when they deposited: their updates were trained between the two. */
import { toHex } from '@basa/masking';
import type { Ctx, UserId } from '@basa/protocol';
import type { VersionRange } from '../closing/bounded-age.ts';
import { remember } from './recent.ts';

/** A device may learn of a version a moment before this node does. */
const SLACK = 1;

export class VersionsSeen {
  readonly #asked = new Map<string, number>();
  readonly #deposited = new Map<string, VersionRange>();

  /** The device got a place to train. If it asks again, it may have started its training after the first answer. */
  asked(user: UserId, newest: number): void {
    if (!this.#asked.has(toHex(user))) remember(this.#asked, toHex(user), newest);
  }

  /** It trains again. */
  forget(user: UserId): void {
    this.#asked.delete(toHex(user));
  }

  deposited(user: UserId, ctx: Ctx, newest: number): void {
    const oldest = this.#asked.get(toHex(user));
    remember(this.#deposited, nameOf(user, ctx), { oldest, newest: newest + SLACK });
    this.forget(user);
  }

  /** Empty if it deposited at another node, or long ago. */
  of(user: UserId, ctx: Ctx): VersionRange {
    return this.#deposited.get(nameOf(user, ctx)) ?? {};
  }
}

function nameOf(user: UserId, ctx: Ctx): string {
  return `${toHex(ctx)} ${toHex(user)}`;
}
