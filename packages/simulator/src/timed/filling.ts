/** Batches that fill, and the rule by which one of them stops waiting for more updates. */
import { PRIORITY, type Timeline } from './timeline.ts';
import type { Included } from './trip.ts';

export interface Batch {
  /** The version of its updates. */
  readonly version: number;
  /** The updates that arrived; those that were examined are accepted. */
  arrived: number;
  isClosed: boolean;
  readonly accepted: Included[];
}

export function newBatch(version: number): Batch {
  return { version, arrived: 0, isClosed: false, accepted: [] };
}

/** If no user is under way to a batch for this long, no user will come. */
const NOBODY_COMES_SECONDS = 1;

/** A batch with enough updates does not wait if no user is on its way. A batch that can never have enough updates ends. */
export function closeWhenQuiet(
  timeline: Timeline,
  open: Map<number, Batch>,
  version: number,
  close: (batch: Batch) => void,
): void {
  const { gate, fleet } = timeline;
  const batch = open.get(version);
  if (gate === undefined || batch === undefined) return;
  const minimum = fleet.minimum ?? fleet.bufferSize;
  const coming = (): number => gate.comingOn(version);
  // No user departs on an older version any more.
  const isLast = version < timeline.version;
  if (isLast && batch.arrived + coming() < minimum) {
    open.delete(version);
    gate.became(batch, 'over');
    return;
  }
  const isEnough = (): boolean => coming() === 0 && !batch.isClosed && batch.accepted.length >= minimum;
  if (!isEnough()) return;
  const { arrived } = batch;
  timeline.at(timeline.now + (isLast ? 0 : NOBODY_COMES_SECONDS), PRIORITY.step, () => {
    if (!isEnough() || batch.arrived !== arrived || batch.accepted.length < arrived) return;
    if (open.get(version) === batch) open.delete(version);
    close(batch);
  });
}
