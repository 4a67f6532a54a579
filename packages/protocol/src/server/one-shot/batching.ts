/** The choice of the uploads of a batch, and the time in which authorities vote for them. */
import { toHex } from '@basa/masking';
import { batchProblem } from '../../wire/one-shot/batch-rules.ts';
import type { Epoch } from '../../wire/one-shot/epoch.ts';
import type { ShotHeader, ShotUpload } from '../../wire/one-shot/upload.ts';
import type { TaskPolicy } from '../../wire/policy.ts';
import type { Refused } from '../../wire/refusals.ts';

/**
 * Takes at most K uploads of distinct devices, in their order, such that all of them name enough authorities in common. Returns none if
 * they are too few for a batch. If the oldest upload names other authorities than the rest, the batch is made without it.
 */
export function pickBatch<Shot extends { readonly upload: ShotUpload }>(
  policy: TaskPolicy,
  shots: readonly Shot[],
): readonly Shot[] {
  const tried = new Set<string>();
  for (const start of shots) {
    const named = start.upload.header.epochs.map(({ authority }) => authority).join();
    if (tried.has(named)) continue;
    tried.add(named);
    const picked = new Set(pickAround(policy, start, shots));
    if (picked.size >= policy.minimum) return shots.filter((shot) => picked.has(shot));
  }
  return [];
}

/** Takes this upload first, and then the others in their order. */
function pickAround<Shot extends { readonly upload: ShotUpload }>(
  policy: TaskPolicy,
  start: Shot,
  shots: readonly Shot[],
): readonly Shot[] {
  const users = new Set<string>();
  const picked: Shot[] = [];
  let common = start.upload.header;
  for (const shot of [start, ...shots]) {
    if (picked.length === policy.bufferSize) break;
    const { header } = shot.upload;
    const together = namedByBoth(common, header);
    if (users.has(toHex(header.user)) || batchProblem({ ...policy, minimum: 1 }, [together]) !== undefined) continue;
    users.add(toHex(header.user));
    picked.push(shot);
    common = together;
  }
  return picked;
}

function namedByBoth(one: ShotHeader, other: ShotHeader): ShotHeader {
  const names = new Set(other.epochs.map(({ authority }) => authority));
  return { ...one, epochs: one.epochs.filter(({ authority }) => names.has(authority)) };
}

/** The times at which the first and the last authority that an upload names stop voting for it. */
export interface VoteWindow {
  readonly first: number;
  readonly last: number;
}

export interface VoteTime {
  readonly voteMs: number;
  epoch(statement: Uint8Array): Epoch | undefined;
}

export function voteWindow({ epochs }: Pick<ShotHeader, 'epochs'>, { voteMs, epoch }: VoteTime): VoteWindow {
  const ends = epochs.map(({ statement }) => (epoch(statement)?.closes ?? 0) + voteMs);
  return { first: Math.min(...ends), last: Math.max(...ends) };
}

/** The slots of a batch that more authorities refuse than may lie, each with the first of these refusals. */
export function refusedSlots<Refusal extends Pick<Refused, 'slots'>>(
  policy: TaskPolicy,
  refusals: readonly Refusal[],
): ReadonlyMap<number, Refusal> {
  const bySlot = new Map<number, Refusal[]>();
  for (const refusal of refusals)
    for (const slot of new Set(refusal.slots)) bySlot.set(slot, [...(bySlot.get(slot) ?? []), refusal]);
  const tolerated = policy.oneShot?.tolerated ?? 0;
  const certain = [...bySlot].filter(([, own]) => own.length > tolerated);
  return new Map(certain.flatMap(([slot, [first]]) => (first === undefined ? [] : [[slot, first] as const])));
}
