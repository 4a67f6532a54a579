/** The authorities that would vote for an upload, by their verdicts. */

import { toHex } from '@basa/masking';
import type { Verdict } from '../wire/messages.ts';
import type { Epoch } from '../wire/model.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import type { Refused } from '../wire/refusals.ts';
import type { ShotHeader, ShotUpload } from '../wire/upload.ts';
import { byVersion, leastOfVersion, MAX_VERSIONS } from './rules.ts';

/** The verdict of an authority on one upload. */
export interface SaidBy extends Pick<Verdict, 'verdict'> {
  readonly authority: number;
}

export interface Voters {
  /** A bit mask of the authorities that called it good. */
  readonly good: number;
  /** True if another authority would refuse it. */
  readonly isDoubted: boolean;
}

export function votersOf(said: readonly SaidBy[]): Voters {
  const good = said.filter(({ verdict }) => verdict === 'good');
  return {
    good: good.reduce((mask, { authority }) => mask | (1 << authority), 0),
    isDoubted: said.some(({ verdict }) => verdict === 'bad'),
  };
}

interface Good {
  readonly upload: ShotUpload;
  readonly voters: Voters;
}

/** The number of sets of authorities around which a batch is tried. */
const MAX_TRIED = 32;

/** Takes a batch of the version with the most uploads that can be one, or, if the policy lets batches mix versions, of several with enough. */
export function pickBatch<Shot extends Good>(policy: TaskPolicy, shots: readonly Shot[]): readonly Shot[] {
  if (leastOfVersion(policy) < policy.minimum) return pickVoted(policy, shots);
  for (const version of versionsOf(shots)) {
    const picked = pickVoted(policy, version);
    if (picked.length > 0) return picked;
  }
  return [];
}

/** The uploads on each version of the model, the versions with the most first. */
function versionsOf<Shot extends Good>(shots: readonly Shot[]): readonly (readonly Shot[])[] {
  const versions = byVersion(shots.map(({ upload }) => upload.header));
  return versions.map((own) => own.map((n) => shots[n] as Shot)).sort((a, b) => b.length - a.length);
}

/**
 * Takes at most K uploads of distinct devices such that enough authorities would vote for all of them, in their order; those that an
 * authority would refuse come last. Returns none if they are too few for a batch. A device chooses the authorities that its upload names, and
 * can make some of them refuse it, so the sets that vote for most devices count first, and the largest batch is taken: few uploads with other
 * authorities keep no others out, however early they come.
 */
function pickVoted<Shot extends Good>(policy: TaskPolicy, shots: readonly Shot[]): readonly Shot[] {
  const inTurn = [...shots].sort((a, b) => Number(a.voters.isDoubted) - Number(b.voters.isDoubted));
  const groups = groupsOf(inTurn);
  let best: readonly Shot[] = [];
  for (const first of groups.slice(0, MAX_TRIED)) {
    const sets = setsAround(policy, [first, ...groups]);
    const voted = distinct(inTurn.filter((shot) => sets.has(nameOf(shot))));
    const picked = pickVersions(policy, voted);
    if (picked.length > best.length) best = picked;
    if (best.length === policy.bufferSize) break;
  }
  return best.length < policy.minimum ? [] : best;
}

/** At most K uploads. Each version that is among them has its least number, so that none is cut off by uploads on others. */
function pickVersions<Shot extends Good>(policy: TaskPolicy, shots: readonly Shot[]): readonly Shot[] {
  const { bufferSize } = policy;
  const least = Math.min(leastOfVersion(policy), bufferSize);
  const fitting = Math.min(MAX_VERSIONS, Math.floor(bufferSize / least));
  const versions = versionsOf(shots).filter(({ length }) => length >= least);
  const taken = versions.slice(0, fitting);
  const needed = new Set(taken.flatMap((own) => own.slice(0, least)));
  const more = new Set(taken.flatMap((own) => own.slice(least)));
  let room = bufferSize - needed.size;
  return shots.filter((shot) => needed.has(shot) || (more.has(shot) && room-- > 0));
}

/** The uploads for which the same authorities would vote, the sets of most devices first. */
function groupsOf<Shot extends Good>(shots: readonly Shot[]): readonly (readonly Shot[])[] {
  const groups = new Map<string, Shot[]>();
  for (const shot of shots) {
    const group = groups.get(nameOf(shot));
    if (group === undefined) groups.set(nameOf(shot), [shot]);
    else group.push(shot);
  }
  return [...groups.values()].map(distinct).sort((a, b) => b.length - a.length);
}

/** The sets that fit into one batch: the first one, and each of the others that still leaves enough common voters. */
function setsAround(policy: TaskPolicy, groups: readonly (readonly Good[])[]): ReadonlySet<string> {
  const names = new Set<string>();
  let common = -1;
  for (const [shot] of groups) {
    if (shot === undefined) continue;
    const together = common & votersFor(shot);
    if (!isEnough(policy, together)) continue;
    names.add(nameOf(shot));
    common = together;
  }
  return names;
}

/** Only an authority that the upload names can vote for it. */
function votersFor({ upload, voters }: Good): number {
  return upload.header.epochs.reduce((mask, { authority }) => mask | (1 << authority), 0) & voters.good;
}

function isEnough({ authorities, threshold }: TaskPolicy, voters: number): boolean {
  return authorities.filter((_, index) => ((voters >> index) & 1) === 1).length >= threshold;
}

function nameOf(shot: Good): string {
  return String(votersFor(shot));
}

/** The first upload of each device. */
function distinct<Shot extends Good>(shots: readonly Shot[]): readonly Shot[] {
  const users = new Set<string>();
  return shots.filter(({ upload }) => {
    const user = toHex(upload.header.user);
    if (users.has(user)) return false;
    users.add(user);
    return true;
  });
}

/** The times at which the first and the last authority that an upload names stop voting for it. */
export interface VoteWindow {
  readonly first: number;
  readonly last: number;
}

export interface VoteTime {
  readonly epochMs: number;
  epoch(statement: Uint8Array): Epoch | undefined;
}

export function voteWindow({ epochs }: Pick<ShotHeader, 'epochs'>, { epochMs, epoch }: VoteTime): VoteWindow {
  const ends = epochs.map(({ statement }) => (epoch(statement)?.closes ?? 0) + epochMs);
  return { first: Math.min(...ends), last: Math.max(...ends) };
}

/** The uploads of a batch that more authorities refuse than may lie, each with the first of these refusals. */
export function refusedPositions<Refusal extends Pick<Refused, 'uploads'>>(
  policy: TaskPolicy,
  refusals: readonly Refusal[],
): ReadonlyMap<number, Refusal> {
  const byPosition = new Map<number, Refusal[]>();
  for (const refusal of refusals)
    for (const position of new Set(refusal.uploads))
      byPosition.set(position, [...(byPosition.get(position) ?? []), refusal]);
  const tolerated = policy.oneShot?.tolerated ?? 0;
  const certain = [...byPosition].filter(([, own]) => own.length > tolerated);
  return new Map(certain.flatMap(([position, [first]]) => (first === undefined ? [] : [[position, first] as const])));
}
