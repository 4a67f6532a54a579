/** Buffers that fill, and the rule by which one of them stops waiting for more updates. */
import { PRIORITY, type Timeline } from './timeline.ts';
import type { Included } from './trip.ts';

export interface Buffer {
  /** The version of its updates; undefined if versions are mixed. */
  readonly version: number | undefined;
  seats: number;
  slots: number;
  dropped: number;
  isClosed: boolean;
  readonly accepted: Included[];
}

export function newBuffer(version: number | undefined): Buffer {
  return { version, seats: 0, slots: 0, dropped: 0, isClosed: false, accepted: [] };
}

/** If no user is under way to a buffer for this long, no user will come. */
const NOBODY_COMES_SECONDS = 1;

/** A buffer with enough updates does not wait if no user is on its way. A buffer that can never have enough updates ends. */
export function closeWhenQuiet(
  timeline: Timeline,
  open: Map<number | undefined, Buffer>,
  version: number | undefined,
  close: (buffer: Buffer) => void,
): void {
  const { gate, fleet } = timeline;
  const buffer = open.get(version);
  if (gate === undefined || buffer === undefined) return;
  const minimum = fleet.minimum ?? fleet.bufferSize;
  const coming = (): number => (version === undefined ? gate.underWay : gate.comingOn(version));
  // No user departs on an older version any more.
  const isLast = version !== undefined && version < timeline.version;
  if (isLast && buffer.slots - buffer.dropped + coming() < minimum) {
    open.delete(version);
    gate.became(buffer, 'over', timeline.now);
    return;
  }
  const isEnough = (): boolean => coming() === 0 && !buffer.isClosed && buffer.accepted.length >= minimum;
  if (!isEnough()) return;
  const { slots } = buffer;
  timeline.at(timeline.now + (isLast ? 0 : NOBODY_COMES_SECONDS), PRIORITY.step, () => {
    if (!isEnough() || buffer.slots !== slots || buffer.accepted.length + buffer.dropped < slots) return;
    if (open.get(version) === buffer) open.delete(version);
    close(buffer);
  });
}
