/**
 * Which devices the authorities have revoked. Every head of a log says how many there are; where that is more than the server knows
 * of, it asks who they are, and keeps it for good: a device that was revoked stays so, also where the authority forgot it.
 */
import { equalBytes, toHex } from '@basa/masking';
import type { Council, EnrolledFor, Head, TaskId, UserId } from '@basa/protocol';
import { fail } from '@basa/service';
import type { RevocationMark } from '../store/revocations.ts';
import type { Store } from '../store/store.ts';
import type { AuthorityLink } from './authority-link.ts';
import { gather } from './gather.ts';

/** How long those are waited for that are not needed. */
const GRACE_MS = 500;
/** A million revocations at once: an authority that makes them up goes on no faster than others look. */
const MAX_PAGES = 1024;

export interface RevocationsOptions {
  readonly store: Store;
  readonly authorities: readonly AuthorityLink[];
  onTrouble(what: string, error: unknown): void;
}

export class Revocations {
  readonly #options: RevocationsOptions;
  /** How far the list of each task and authority has come, as far as this node knows. */
  readonly #marks = new Map<string, RevocationMark>();
  /** Under way, by task and authority. */
  readonly #asking = new Map<string, Promise<void>>();

  constructor(options: RevocationsOptions) {
    this.#options = options;
  }

  /** Ends the request of a device that so many authorities revoked that too few are left for it. */
  async check({ task, ...council }: EnrolledFor, user: UserId): Promise<void> {
    if ((await this.#options.store.revokedBy(task, user)) >= enoughToRevoke(council)) fail('revoked');
  }

  /** Looks whether there are new ones, for these tasks. Those that do not answer hold up nobody. */
  async look(tasks: readonly EnrolledFor[]): Promise<void> {
    const { authorities, onTrouble } = this.#options;
    const looks = await Promise.allSettled(authorities.map((link) => link.look()));
    const failed = looks.find((look) => look.status === 'rejected');
    for (const task of tasks)
      await this.catchUp(task).catch((error: unknown) => onTrouble('revocations could not be asked for', error));
    if (failed !== undefined) throw failed.reason;
  }

  /**
   * Learns who was revoked before the newest heads that this server saw: from then on every node knows it. Where enough authorities
   * answer, nobody waits for the others: they give no key to whom they revoked.
   */
  async catchUp({ task, authorities, threshold }: EnrolledFor): Promise<void> {
    const links = this.#options.authorities.filter(({ publicKey }) =>
      authorities.some((key) => equalBytes(key, publicKey)),
    );
    if (links.length === 0) return;
    await gather(
      links.map((link, authority) => ({ authority, ask: () => this.#together(task, link) })),
      { needed: Math.min(threshold, links.length), graceMs: GRACE_MS },
    );
  }

  /** One question to an authority at a time, for whoever wants to know. */
  #together(task: TaskId, link: AuthorityLink): Promise<void> {
    const name = `${toHex(task)} ${toHex(link.publicKey)}`;
    const asked = this.#asking.get(name) ?? this.#catchUp(name, task, link).finally(() => this.#asking.delete(name));
    this.#asking.set(name, asked);
    return asked;
  }

  async #catchUp(name: string, task: TaskId, link: AuthorityLink): Promise<void> {
    const { store } = this.#options;
    const { publicKey } = link;
    let pages = 0;
    let mark = this.#marks.get(name) ?? (await store.revocationMark(task, publicKey));
    for (let { head } = link; head !== undefined && !isUpTo(mark, head); { head } = link) {
      if (pages++ === MAX_PAGES) return; // goes on at the next look
      const isOn = mark !== undefined && equalBytes(mark.branch, head.branch);
      const after = isOn ? (mark?.upTo ?? 0) : 0; // in another life of the log the numbers are others
      const { branch, upTo, users } = await link.revocations(task, after);
      const isFurther = upTo > after || !isOn;
      mark = { branch, upTo };
      await store.addRevocations(task, publicKey, users, mark);
      this.#marks.set(name, mark);
      if (!isFurther) return;
    }
  }
}

/** One of a few alone cannot lock a device out, unless the others are too few without it. */
function enoughToRevoke({ authorities, threshold }: Council): number {
  return authorities.length - threshold + 1;
}

function isUpTo(mark: RevocationMark | undefined, { branch, revocations }: Head): boolean {
  return mark !== undefined && equalBytes(mark.branch, branch) && mark.upTo >= revocations;
}
