/** Which uploads become a batch, and when. Only computes. */
import { toHex } from '@basa/masking';
import { batchProblem, type Epoch, type ShotHeader, type TaskPolicy } from '@basa/protocol';
import { isStalled, type Pace } from '../closing/when-to-end.ts';
import type { StoredShot, VoteWindow } from '../store/shots.ts';

/** As many as fit of distinct devices, such that enough authorities are named by all of them; none if they are too few. */
export function pickBatch(policy: TaskPolicy, shots: readonly StoredShot[]): readonly StoredShot[] {
  const users = new Set<string>();
  const picked: StoredShot[] = [];
  let common: ShotHeader | undefined;
  for (const shot of shots) {
    if (picked.length === policy.bufferSize) break;
    const { header } = shot.upload;
    const together = common === undefined ? header : namedByBoth(common, header);
    if (users.has(toHex(header.user)) || batchProblem({ ...policy, minimum: 1 }, [together]) !== undefined) continue;
    users.add(toHex(header.user));
    picked.push(shot);
    common = together;
  }
  return picked.length < policy.minimum ? [] : picked;
}

function namedByBoth(one: ShotHeader, other: ShotHeader): ShotHeader {
  const names = new Set(other.epochs.map(({ authority }) => authority));
  return { ...one, epochs: one.epochs.filter(({ authority }) => names.has(authority)) };
}

/** At once if it is full; else if nobody else comes, or if the time to vote for it runs out. */
export function isBatchDue(
  { bufferSize, minimum }: TaskPolicy,
  uploads: number,
  { pace, leftMs, marginMs }: { readonly pace: Pace; readonly leftMs: number; readonly marginMs: number },
): boolean {
  if (uploads < minimum) return false;
  return uploads >= bufferSize || isStalled(pace) || leftMs <= marginMs;
}

export interface VoteTime {
  readonly voteMs: number;
  epoch(statement: Uint8Array): Epoch | undefined;
}

export function voteWindow({ epochs }: Pick<ShotHeader, 'epochs'>, { voteMs, epoch }: VoteTime): VoteWindow {
  const ends = epochs.map(({ statement }) => (epoch(statement)?.closes ?? 0) + voteMs);
  return { first: Math.min(...ends), last: Math.max(...ends) };
}
