/**
 * Counts how often each device of a private task was, or may yet be, in a sum: the authority enforces the policy,
 * regardless of the device's own ledger. A key that was issued for an open buffer counts until the buffer has ended. A
 * buffer whose fate is unknown counts as a sum: its keys may have been released in a lost life of the log.
 */
import { toHex } from '@basa/masking';
import type { TaskId, UserId } from '../wire/brands.ts';
import type { Member } from '../wire/one-shot/batch.ts';
import type { PrivacyPolicy } from '../wire/privacy.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import type { AuthorityBuffer } from './buffer.ts';
import type { AuthorityRecord } from './records.ts';
import type { AuthorityTask } from './task.ts';

interface Count {
  /** Sums that hold the device's update. */
  readonly included: number;
  /** Open buffers whose key it has. */
  readonly registered: number;
}

const NONE: Count = { included: 0, registered: 0 };

export class Inclusions {
  readonly #counts = new Map<string, Count>();
  readonly #before: Inclusions | undefined;

  /** Starts from `before`, which does not change. */
  constructor(before?: Inclusions) {
    this.#before = before;
  }

  /** Notes a record of a buffer; `buffer` is its state before it. */
  note(buffer: AuthorityBuffer, entry: AuthorityRecord): void {
    if (buffer.descriptor.privacy === undefined) return;
    if (entry.kind === 'key-issued') this.#add(buffer.descriptor.task, entry.user, 0, 1);
    // The others closed it while this authority was away: the members of the sum are not known here.
    const isUnheard = entry.kind === 'buffer-unknown' || entry.kind === 'model-appended';
    if (!isUnheard && entry.kind !== 'buffer-closed' && entry.kind !== 'buffer-aborted') return;
    const accepted = new Set<number>(entry.kind === 'buffer-closed' ? entry.accepted.map(({ slot }) => slot) : []);
    for (const { slot, user } of buffer.slots.values()) {
      const isIn = isUnheard || accepted.has(slot);
      this.#add(buffer.descriptor.task, user, isIn ? 1 : 0, -1);
    }
  }

  /** Every member of a batch that got a vote or is final may be in the batch's sum, even if the batch ends otherwise. */
  noteBatch(task: AuthorityTask, members: readonly Member[]): void {
    if (task.policy.privacy === undefined) return;
    for (const { user } of members) this.#add(task.id, user, 1, 0);
  }

  /** Returns the reason why the device may not be in one more sum of the task. */
  problem(task: TaskId, privacy: PrivacyPolicy | undefined, user: UserId): Refused | undefined {
    if (privacy === undefined) return undefined;
    const { included, registered } = this.#of(nameOf(task, user));
    if (included >= privacy.participations) return refused('budget-spent');
    return included + registered >= privacy.participations ? refused('budget-reserved') : undefined;
  }

  #of(name: string): Count {
    const before = this.#before;
    return this.#counts.get(name) ?? (before === undefined ? NONE : before.#of(name));
  }

  #add(task: TaskId, user: UserId, included: number, registered: number): void {
    const name = nameOf(task, user);
    const before = this.#of(name);
    this.#counts.set(name, {
      included: before.included + included,
      registered: before.registered + registered,
    });
  }
}

function nameOf(task: TaskId, user: UserId): string {
  return `${toHex(task)} ${toHex(user)}`;
}
