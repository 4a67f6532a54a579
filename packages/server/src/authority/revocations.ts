/**
 * The devices that the authorities have revoked. The server asks each authority for its whole list, and refuses a device early once more of
 * them name it than may lie. It keeps what it was told: a device stays revoked here when an authority was restored and has forgotten it.
 */
import type { TaskPolicy, UserId } from '@basa/protocol';
import { fail } from '@basa/service';
import type { Store } from '../store/store.ts';
import type { AuthorityLinks } from './authority-links.ts';

export interface RevocationsOptions {
  readonly store: Store;
  readonly authorities: Pick<AuthorityLinks, 'all'>;
}

export class Revocations {
  readonly #options: RevocationsOptions;

  constructor(options: RevocationsOptions) {
    this.#options = options;
  }

  /** Ends the request of a device that f + 1 authorities of the task have revoked. */
  async check({ authorities, oneShot }: TaskPolicy, user: UserId): Promise<void> {
    const revoking = await this.#options.store.revokedBy(user, authorities);
    if (revoking > (oneShot?.tolerated ?? 0)) fail('revoked');
  }

  /** An authority that does not answer delays nothing but the error that this throws in the end. */
  async look(): Promise<void> {
    const { store, authorities } = this.#options;
    const looks = await Promise.allSettled(
      authorities.all.map(async (link) => store.addRevocations(link.publicKey, await link.revocations())),
    );
    for (const look of looks) if (look.status === 'rejected') throw look.reason;
  }
}
