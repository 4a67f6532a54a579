/**
 * Which devices the authorities have revoked. Every head of a log says how many there are; where that is more than the server knows
 * of, it asks who they are, and keeps it for good: a device that was revoked stays so, also where the authority forgot it.
 */
import { equalBytes, toHex } from '@basa/masking';
import type { Council, EnrolledFor, Head, TaskId, UserId } from '@basa/protocol';
import { fail } from '@basa/service';
import type { RevocationMark } from '../store/revocation-store.ts';
import type { Store } from '../store/store.ts';
import type { AuthorityLink } from './authority-link.ts';

export interface RevocationsOptions {
  readonly store: Store;
  readonly authorities: readonly AuthorityLink[];
  onTrouble(what: string, error: unknown): void;
}

export class Revocations {
  readonly #options: RevocationsOptions;
  /** How far the list of each task and authority has come, as far as this node knows. */
  readonly #marks = new Map<string, RevocationMark>();

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
    const tries = await Promise.allSettled(links.map((link) => this.#catchUp(task, link)));
    const failed = tries.filter((one) => one.status === 'rejected');
    if (failed[0] !== undefined && links.length - failed.length < threshold) throw failed[0].reason;
  }

  async #catchUp(task: TaskId, link: AuthorityLink): Promise<void> {
    const { store } = this.#options;
    const { publicKey } = link;
    const name = `${toHex(task)} ${toHex(publicKey)}`;
    let mark = this.#marks.get(name) ?? (await store.revocationMark(task, publicKey));
    for (let { head } = link; head !== undefined && !isUpTo(mark, head); { head } = link) {
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
