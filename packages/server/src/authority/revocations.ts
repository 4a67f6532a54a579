/**
 * Which devices the authority has revoked. Every head of its log says how many there are; where that is more than the server
 * knows of, it asks who they are, and keeps it for good: a device that was revoked stays so, also where the authority forgot it.
 */
import { equalBytes, toHex } from '@basa/masking';
import type { Head, TaskId, UserId } from '@basa/protocol';
import { fail } from '@basa/service';
import type { RevocationMark, Store } from '../store/store.ts';
import type { AuthorityLink } from './authority-link.ts';

export interface RevocationsOptions {
  readonly store: Store;
  readonly authority: AuthorityLink;
  onTrouble(what: string, error: unknown): void;
}

export class Revocations {
  readonly #options: RevocationsOptions;
  /** How far the list of each task has come, as far as this node knows. */
  readonly #marks = new Map<string, RevocationMark>();

  constructor(options: RevocationsOptions) {
    this.#options = options;
  }

  /** Ends the request of a device that was revoked. */
  async check(task: TaskId, user: UserId): Promise<void> {
    if (await this.#options.store.isRevoked(task, user)) fail('revoked');
  }

  /** Looks whether there are new ones, for these tasks. */
  async look(tasks: readonly TaskId[]): Promise<void> {
    const { authority, onTrouble } = this.#options;
    await authority.look();
    for (const task of tasks)
      await this.catchUp(task).catch((error: unknown) => onTrouble('revocations could not be asked for', error));
  }

  /** Learns who was revoked before the newest head that this server saw: from then on every node knows it. */
  async catchUp(task: TaskId): Promise<void> {
    const { store, authority } = this.#options;
    let mark = this.#marks.get(toHex(task)) ?? (await store.revocationMark(task));
    for (let { head } = authority; head !== undefined && !isUpTo(mark, head); { head } = authority) {
      const isOn = mark !== undefined && equalBytes(mark.branch, head.branch);
      const after = isOn ? (mark?.upTo ?? 0) : 0; // in another life of the log the numbers are others
      const { branch, upTo, users } = await authority.revocations(task, after);
      const isFurther = upTo > after || !isOn;
      mark = { branch, upTo };
      await store.addRevocations(task, users, mark);
      this.#marks.set(toHex(task), mark);
      if (!isFurther) return;
    }
  }
}

function isUpTo(mark: RevocationMark | undefined, { branch, revocations }: Head): boolean {
  return mark !== undefined && equalBytes(mark.branch, branch) && mark.upTo >= revocations;
}
