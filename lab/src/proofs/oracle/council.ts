/**
 * The knowledge of a server with some of the authorities on its side. It gives every honest authority another set to
 * vote for, and another close to release by; the colluding ones sign anything, and all their keys are its own.
 */
import type { RandomWords } from '@basa/masking';
import { type Endorsement, isRefused, joined } from '@basa/protocol';
import type { Step } from '@basa/simulator';
import { type Combination, describeCombination, isSpannedBy } from '../../attacks/solve.ts';
import { type CouncilShape, type CouncilWorld, councilFederation, filledBuffer, subsetsOf } from './council-world.ts';

export interface CouncilVerdict {
  readonly schedules: number;
  /** Schedules in which an honest authority released keys. */
  readonly closed: number;
  /** Schedules in which the sum of the closed set was found, as it should be. */
  readonly sums: number;
  readonly leaks: number;
  /** The schedule of the first leak, and the information that it reveals. */
  readonly first?: { readonly schedule: number; readonly learned: readonly string[] };
}

/** The progress of the user of each slot. */
const COURSES: readonly (readonly Step[])[] = [
  ['upload', 'upload', 'upload', 'upload'],
  ['upload', 'upload', 'upload', 'key'],
  ['upload', 'key', 'upload', 'upload'],
  ['key', 'upload', 'upload', 'upload'],
  ['upload', 'upload', 'deposit', 'upload'],
];

export function judgeCouncil(shape: CouncilShape, schedules: number, randomWords: RandomWords): CouncilVerdict {
  const worlds = COURSES.map((course) => filledBuffer(councilFederation(shape), shape.colluding, course));
  let [closed, sums, leaks] = [0, 0, 0];
  let first: CouncilVerdict['first'];
  for (let schedule = 0; schedule < schedules; schedule++) {
    const world = worlds[schedule % worlds.length] as CouncilWorld;
    const { learned, allowed } = play(world, drawsOf(randomWords));
    if (allowed.length > 0) closed++;
    if (allowed.length > 0 && isSpannedBy(allowed, learned)) sums++;
    if (isSpannedBy(learned, allowed)) continue;
    leaks++;
    first ??= { schedule, learned: learned.map((one) => describeCombination(one, (symbol) => `x${symbol}`)) };
  }
  return { schedules, closed, sums, leaks, ...(first && { first }) };
}

/** Draws a number below `count`. */
type Draw = (count: number) => number;

function drawsOf(randomWords: RandomWords): Draw {
  const word = new Uint32Array(1);
  return (count) => {
    randomWords(word);
    return (word[0] as number) % count;
  };
}

interface Played {
  readonly learned: readonly Combination[];
  readonly allowed: readonly Combination[];
}

/** Asks each honest authority for one vote and twice for keys, with drawn sets. */
function play(world: CouncilWorld, draw: Draw): Played {
  const cores = world.honestCores();
  const sets = subsetsOf(world.accepted).filter((set) => set.length >= world.minimum);
  const votes = sets.map((set): Endorsement[] => world.boughtVotes(set));
  for (const core of cores.values()) {
    const set = draw(sets.length);
    const answer = world.asked(core, sets[set] ?? [], []);
    if (!isRefused(answer)) votes[set]?.push(...answer.vote.endorsements);
  }
  const pool = world.ownPool();
  const allowed: Combination[] = [];
  for (let attempt = 0; attempt < 2; attempt++) {
    for (const [index, core] of cores) {
      const set = draw(sets.length);
      const answer = world.asked(core, sets[set] ?? [], joined(votes[set] ?? []));
      if (isRefused(answer)) continue;
      pool.add(index, answer.keys);
      // One close is final; any further result is a leak.
      if (answer.outcome.status === 'closed' && allowed.length === 0)
        allowed.push(new Map(answer.outcome.accepted.map(({ slot }) => [slot as number, 1])));
    }
  }
  return { learned: world.learnedWith(pool), allowed };
}
