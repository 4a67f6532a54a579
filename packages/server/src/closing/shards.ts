/** Cuts a sum into shards, so that every worker has its part, and none exceeds its memory limit. */

/** 4 MiB of words: memory grows with the workers, not with the model. */
export const MAX_SHARD_ELEMENTS = 1 << 20;
/** A shard prepares every mask again; for fewer elements that is most of its work. */
const MIN_SHARD_ELEMENTS = 1 << 16;
/** Shards begin at a whole byte for any number of bits per element, and at a position at which the keystream can start. */
const STEP = 1024;
/** Two for each worker: a slower one delays the others by at most half of its part. */
const SHARDS_PER_WORKER = 2;
/** Later shards need the words before the coordinates: if several workers wait for them, they come from a small shard. */
const FIRST_ELEMENTS = 4096;

export interface Shard {
  readonly from: number;
  readonly to: number;
}

export function shardsOf(elements: number, workers: number): readonly Shard[] {
  const fair = Math.ceil((elements - FIRST_ELEMENTS) / (SHARDS_PER_WORKER * workers * STEP)) * STEP;
  const most = workers === 1 ? MAX_SHARD_ELEMENTS : clamp(fair, MIN_SHARD_ELEMENTS, MAX_SHARD_ELEMENTS);
  const shards: Shard[] = [];
  for (let from = 0; from < elements; ) {
    const size = from === 0 && workers > 1 && elements > most ? FIRST_ELEMENTS : most;
    const to = Math.min(elements, from + size);
    shards.push({ from, to });
    from = to;
  }
  return shards;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
