/**
 * The devices that the authorities have revoked. Every head of a log contains their number. If it is higher than the server's number, the
 * server asks for the list and keeps it permanently. A revoked device stays revoked, even if the authority
 * has lost the record.
 */
import { equalBytes, toHex } from '@basa/masking';
import type { Council, EnrolledFor, Head, UserId } from '@basa/protocol';
import { fail } from '@basa/service';
import type { RevocationMark } from '../store/revocations.ts';
import type { Store } from '../store/store.ts';
import type { AuthorityLink } from './authority-link.ts';
import type { AuthorityLinks } from './authority-links.ts';
import { gather } from './gather.ts';

/** The time for which authorities that are not needed are awaited. */
const GRACE_MS = 500;
/** At most a million revocations in one check, so that an authority that invents them cannot delay the others. */
const MAX_PAGES = 1024;

export interface RevocationsOptions {
  readonly store: Store;
  readonly authorities: Pick<AuthorityLinks, 'all'>;
  onTrouble(what: string, error: unknown): void;
}

export class Revocations {
  readonly #options: RevocationsOptions;
  /** The position in the list of each task and authority, as far as this node knows. */
  readonly #marks = new Map<string, RevocationMark>();
  /** Under way, by task and authority. */
  readonly #asking = new Map<string, Promise<void>>();

  constructor(options: RevocationsOptions) {
    this.#options = options;
  }

  /** Ends the request of a device if too few authorities are left that have not revoked it. */
  async check({ task, ...council }: EnrolledFor, user: UserId): Promise<void> {
    const revoking = await this.#options.store.revokedBy(task, user, council);
    if (revoking >= enoughToRevoke(council)) fail('revoked');
  }

  /** Checks for new revocations for these tasks. An authority that does not answer delays nothing. */
  async look(tasks: readonly EnrolledFor[]): Promise<void> {
    const { authorities, onTrouble } = this.#options;
    const looks = await Promise.allSettled(authorities.all.map((link) => link.look()));
    const failed = looks.find((look) => look.status === 'rejected');
    for (const task of tasks)
      await this.catchUp(task).catch((error: unknown) => onTrouble('revocations could not be requested', error));
    if (failed !== undefined) throw failed.reason;
  }

  /**
   * Learns the revocations before the newest heads that this server saw: from then on every node knows them. If enough
   * authorities answer, the others are not awaited: they refuse uploads of devices they revoked.
   */
  async catchUp(of: EnrolledFor): Promise<void> {
    const { authorities, threshold } = of;
    const links = this.#options.authorities.all.filter(({ publicKey }) =>
      authorities.some((key) => equalBytes(key, publicKey)),
    );
    if (links.length === 0) return;
    await gather(
      links.map((link, authority) => ({ authority, ask: () => this.#together(of, link) })),
      { needed: Math.min(threshold, links.length), graceMs: GRACE_MS },
    );
  }

  /** One request to an authority at a time, shared by all callers. */
  #together(of: EnrolledFor, link: AuthorityLink): Promise<void> {
    const name = `${toHex(of.task)} ${toHex(link.publicKey)}`;
    const asked = this.#asking.get(name) ?? this.#catchUp(name, of, link).finally(() => this.#asking.delete(name));
    this.#asking.set(name, asked);
    return asked;
  }

  async #catchUp(name: string, of: EnrolledFor, link: AuthorityLink): Promise<void> {
    const { store } = this.#options;
    const { task } = of;
    const { publicKey } = link;
    let pages = 0;
    let mark = this.#marks.get(name) ?? (await store.revocationMark(task, publicKey));
    for (let { head } = link; head !== undefined && !isUpTo(mark, head); { head } = link) {
      if (pages++ === MAX_PAGES) return; // continues at the next look
      const isOn = mark !== undefined && equalBytes(mark.branch, head.branch);
      const after = isOn ? (mark?.upTo ?? 0) : 0; // in another life of the log the numbers are different
      const { branch, upTo, users } = await link.revocations(of, after);
      const isFurther = upTo > after || !isOn;
      mark = { branch, upTo };
      await store.addRevocations(task, publicKey, users, mark);
      this.#marks.set(name, mark);
      if (!isFurther) return;
    }
  }
}

/** A single authority cannot lock out a device, except if the others are too few without it. */
function enoughToRevoke({ authorities, threshold }: Council): number {
  return authorities.length - threshold + 1;
}

function isUpTo(mark: RevocationMark | undefined, { branch, revocations }: Head): boolean {
  return mark !== undefined && equalBytes(mark.branch, branch) && mark.upTo >= revocations;
}
