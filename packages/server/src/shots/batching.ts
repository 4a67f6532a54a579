/** The time at which a batch is made, and the uploads that are in time for it. */
import type { TaskPolicy } from '@basa/protocol';
import { isStalled, type Pace } from '../closing/when-to-end.ts';
import type { StoredShot } from '../store/shots.ts';

/** At once if it is full; otherwise if no other device comes, or if the time to vote for it runs out. */
export function isBatchDue(
  { bufferSize, minimum }: TaskPolicy,
  uploads: number,
  { pace, leftMs, marginMs }: { readonly pace: Pace; readonly leftMs: number; readonly marginMs: number },
): boolean {
  if (uploads < minimum) return false;
  return uploads >= bufferSize || isStalled(pace) || leftMs <= marginMs;
}

/**
 * Those that every authority still votes for, if they are enough for a batch: a device can have its late upload
 * declared expired at one authority, which then votes for no batch with it.
 */
export function inTime<Shot extends Pick<StoredShot, 'votes'>>(
  shots: readonly Shot[],
  { minimum }: Pick<TaskPolicy, 'minimum'>,
  now: number,
): readonly Shot[] {
  const early = shots.filter(({ votes }) => votes.first > now);
  return early.length >= minimum ? early : shots;
}
