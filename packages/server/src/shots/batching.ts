/** Which uploads become a batch, and when. Only computes. */
import { toHex } from '@basa/masking';
import { batchProblem, type Epoch, type ShotHeader, type TaskPolicy } from '@basa/protocol';
import { isStalled, type Pace } from '../closing/when-to-end.ts';
import type { StoredShot } from '../store/shots.ts';

/** Good uploads on one entry of the model log, in the order in which they came. */
export interface Group {
  readonly version: number;
  readonly shots: readonly StoredShot[];
}

/** The oldest version first. */
export function groupsOf(shots: readonly StoredShot[]): readonly Group[] {
  const groups = new Map<string, StoredShot[]>();
  for (const shot of shots) {
    const entry = toHex(shot.upload.header.entry);
    const group = groups.get(entry);
    if (group === undefined) groups.set(entry, [shot]);
    else group.push(shot);
  }
  return [...groups.values()]
    .map((own) => ({ version: (own[0] as StoredShot).upload.header.version, shots: own }))
    .sort((a, b) => a.version - b.version);
}

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
  { bufferSize }: TaskPolicy,
  picked: readonly StoredShot[],
  { pace, leftMs, marginMs }: { readonly pace: Pace; readonly leftMs: number; readonly marginMs: number },
): boolean {
  if (picked.length === 0) return false;
  return picked.length === bufferSize || isStalled(pace) || leftMs <= marginMs;
}

export interface VoteTime {
  readonly voteMs: number;
  epoch(statement: Uint8Array): Epoch | undefined;
}

/** When the first authority that the upload names stops to vote for it, and when the last one does. */
export function voteWindow({ upload }: StoredShot, { voteMs, epoch }: VoteTime): { first: number; last: number } {
  const ends = upload.header.epochs.map(({ statement }) => (epoch(statement)?.closes ?? 0) + voteMs);
  return { first: Math.min(...ends), last: Math.max(...ends) };
}
