/** The time at which a batch is made. */
import type { TaskPolicy } from '@basa/protocol';
import { isStalled, type Pace } from '../closing/when-to-end.ts';

/** A batch is made immediately if it is full. Otherwise it is made if no other device comes, or if the time to vote for it runs out. */
export function isBatchDue(
  { bufferSize, minimum }: TaskPolicy,
  uploads: number,
  { pace, leftMs, marginMs }: { readonly pace: Pace; readonly leftMs: number; readonly marginMs: number },
): boolean {
  if (uploads < minimum) return false;
  return uploads >= bufferSize || isStalled(pace) || leftMs <= marginMs;
}
