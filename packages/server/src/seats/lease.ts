/**
 * How long a place lasts before its deposit. A device that has used one is given three times what nearly all devices need, a new one half
 * of that, and before anything is known an eighth of the longest lease. Each slot or place that a device lately left unused halves it, so that
 * an idle device holds a place for two first leases in all, and then for seconds.
 *
 * A short lease does an honest device no harm: its place lapses while it trains, and it comes with its update all the same.
 */
import type { UserId } from '@basa/protocol';
import { MIN_LATE_MS, type Span } from './span.ts';

const FIRST_SHARE = 1 / 8;
const NEW_SHARE = 1 / 2;

export function leaseOf(toDeposit: Span, user: UserId, unused: number, longestMs: number): number {
  const lateMs = toDeposit.isKnown
    ? toDeposit.lateMs(longestMs) * (toDeposit.hasEnded(user) ? 1 : NEW_SHARE)
    : longestMs * FIRST_SHARE;
  return Math.min(longestMs, Math.max(MIN_LATE_MS, lateMs / 2 ** unused));
}
