/** The choice of the uploads of a batch, and the time in which authorities vote for them. */
import { toHex } from '@basa/masking';
import { batchProblem } from '../../wire/one-shot/batch-rules.ts';
import type { Epoch } from '../../wire/one-shot/epoch.ts';
import type { ShotHeader, ShotUpload } from '../../wire/one-shot/upload.ts';
import type { TaskPolicy } from '../../wire/policy.ts';
import type { Refused } from '../../wire/refusals.ts';

type Named = { readonly upload: ShotUpload };

/** The number of sets of authorities around which a batch is tried. */
const MAX_TRIED = 32;

/**
 * Takes at most K uploads of distinct devices, in their order, such that all of them name enough authorities in common. Returns none if
 * they are too few for a batch. A device chooses the authorities that its upload names, so the sets that most devices name count first, and
 * the largest batch is taken: few uploads that name other authorities keep no others out, however early they come.
 */
export function pickBatch<Shot extends Named>(policy: TaskPolicy, shots: readonly Shot[]): readonly Shot[] {
  const groups = groupsOf(shots);
  let best: readonly Shot[] = [];
  for (const first of groups.slice(0, MAX_TRIED)) {
    const names = namesAround(policy, [first, ...groups]);
    const picked = distinct(shots.filter((shot) => names.has(namesOf(shot)))).slice(0, policy.bufferSize);
    if (picked.length > best.length) best = picked;
    if (best.length === policy.bufferSize) break;
  }
  return best.length < policy.minimum ? [] : best;
}

/** The uploads that name the same authorities, the sets of most devices first. */
function groupsOf<Shot extends Named>(shots: readonly Shot[]): readonly (readonly Shot[])[] {
  const groups = new Map<string, Shot[]>();
  for (const shot of shots) {
    const group = groups.get(namesOf(shot));
    if (group === undefined) groups.set(namesOf(shot), [shot]);
    else group.push(shot);
  }
  return [...groups.values()].map(distinct).sort((a, b) => b.length - a.length);
}

/** The sets that fit into one batch: the first one, and each of the others that still leaves enough authorities in common. */
function namesAround(policy: TaskPolicy, groups: readonly (readonly Named[])[]): ReadonlySet<string> {
  const names = new Set<string>();
  let common: ShotHeader | undefined;
  for (const [shot] of groups) {
    if (shot === undefined) continue;
    const together = common === undefined ? shot.upload.header : namedByBoth(common, shot.upload.header);
    if (batchProblem({ ...policy, minimum: 1 }, [together]) !== undefined) continue;
    names.add(namesOf(shot));
    common = together;
  }
  return names;
}

function namesOf({ upload }: Named): string {
  return upload.header.epochs.map(({ authority }) => authority).join();
}

/** The first upload of each device. */
function distinct<Shot extends Named>(shots: readonly Shot[]): readonly Shot[] {
  const users = new Set<string>();
  return shots.filter(({ upload }) => {
    const user = toHex(upload.header.user);
    if (users.has(user)) return false;
    users.add(user);
    return true;
  });
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
