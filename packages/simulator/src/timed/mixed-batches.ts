/**
 * Good uploads that wait for a batch that mixes versions: much as the server chooses them (`pickBatch` of the protocol), which also leaves
 * out some uploads on large versions if another version then fits.
 */
import type { Included } from './trip.ts';

/** The versions of a batch: the protocol's own number, in packages/protocol/src/one-shot/rules.ts. */
const MAX_VERSIONS = 8;

export class MixedBatches {
  readonly #least: number;
  /** In the order of their arrival. */
  #waiting: Included[] = [];

  /** `least` is `versionMinimum`: each version of a batch has this many of its updates. */
  constructor(least: number) {
    this.#least = least;
  }

  add(update: Included): void {
    this.#waiting.push(update);
  }

  /** The number that waits, by version. */
  get versions(): ReadonlyMap<number, number> {
    const counts = new Map<number, number>();
    for (const { trip } of this.#waiting) counts.set(trip.version, (counts.get(trip.version) ?? 0) + 1);
    return counts;
  }

  /** Takes at most `most` updates, none if there are fewer than `fewest` of them. */
  take(fewest: number, most: number): readonly Included[] {
    const picked = this.#pick(fewest, most);
    const isPicked = new Set(picked);
    this.#waiting = this.#waiting.filter((update) => !isPicked.has(update));
    return picked;
  }

  /** Takes the updates on a version that no batch can have any more. */
  give(version: number): readonly Included[] {
    const over = this.#waiting.filter(({ trip }) => trip.version === version);
    this.#waiting = this.#waiting.filter(({ trip }) => trip.version !== version);
    return over;
  }

  /** The largest versions first, each with enough updates. */
  #pick(fewest: number, most: number): readonly Included[] {
    const versions = [...groupsOf(this.#waiting).values()].sort((a, b) => b.length - a.length);
    const picked: Included[] = [];
    for (const group of versions.slice(0, MAX_VERSIONS)) {
      const taken = group.slice(0, most - picked.length);
      if (taken.length >= this.#least) picked.push(...taken);
    }
    return picked.length < fewest ? [] : picked;
  }
}

function groupsOf(updates: readonly Included[]): ReadonlyMap<number, readonly Included[]> {
  const groups = new Map<number, Included[]>();
  for (const update of updates) {
    const { version } = update.trip;
    groups.set(version, [...(groups.get(version) ?? []), update]);
  }
  return groups;
}
