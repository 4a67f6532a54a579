/**
 * Counts how often each device of a private task was, or may yet be, in a sum: the authority enforces the policy,
 * regardless of the device's own ledger.
 */
import { toHex } from '@basa/masking';
import type { TaskId, UserId } from '../wire/brands.ts';
import type { Member } from '../wire/one-shot/batch.ts';
import type { PrivacyPolicy } from '../wire/privacy.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import type { AuthorityTask } from './task.ts';

export class Inclusions {
  readonly #counts = new Map<string, number>();
  readonly #before: Inclusions | undefined;

  /** Starts from `before`, which does not change. */
  constructor(before?: Inclusions) {
    this.#before = before;
  }

  /** Every member of a batch that got a vote or is final may be in the batch's sum, even if the batch ends otherwise. */
  noteBatch(task: AuthorityTask, members: readonly Member[]): void {
    if (task.policy.privacy === undefined) return;
    for (const { user } of members) {
      const name = nameOf(task.id, user);
      this.#counts.set(name, this.#of(name) + 1);
    }
  }

  /** Returns the reason why the device may not be in one more sum of the task. */
  problem(task: TaskId, privacy: PrivacyPolicy | undefined, user: UserId): Refused | undefined {
    if (privacy === undefined) return undefined;
    return this.#of(nameOf(task, user)) >= privacy.participations ? refused('budget-spent') : undefined;
  }

  #of(name: string): number {
    const before = this.#before;
    return this.#counts.get(name) ?? (before === undefined ? 0 : before.#of(name));
  }
}

function nameOf(task: TaskId, user: UserId): string {
  return `${toHex(task)} ${toHex(user)}`;
}
