/** Limits the place requests of a task: those of all its devices together, and those of each device to a share of that. */
import { toHex } from '@basa/masking';
import type { UserId } from '@basa/protocol';
import { type RateLimit, TokenBuckets } from '@basa/service';

/** One device gets at most this share of the limit, so that a few devices that keep asking do not use it up. */
const SHARE = 1 / 10;

export class TaskLimits {
  readonly #tasks: TokenBuckets;
  readonly #devices: TokenBuckets;

  constructor(limit: RateLimit) {
    const { burst, perSecond } = limit;
    this.#tasks = new TokenBuckets(limit);
    this.#devices = new TokenBuckets({ burst: Math.max(1, SHARE * burst), perSecond: SHARE * perSecond });
  }

  /** Counts a request of a device of the task. Returns the time to wait if it is one too many; then it does not count for the task. */
  take(task: string, user: UserId, now: number): { readonly retryAfterMs: number } | undefined {
    return this.#devices.take(`${task} ${toHex(user)}`, now) ?? this.#tasks.take(task, now);
  }
}
