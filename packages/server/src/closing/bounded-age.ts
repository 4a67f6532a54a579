/**
 * The mean age of a sum, bounded by what the server saw itself. Devices report their ages, and one liar can set their
 * sum: it could have a step damped as if every update were M versions older than the buffer. But a device trained on no
 * version that came after its deposit; and one that asked for a place fetched its model after that, so it did not train
 * on a version that was old by then. A liar can only use the range of devices that came without a place, or to another
 * node: for each at most M versions before the buffer's own.
 */

/** The versions that an update may be trained on, as far as the server knows. */
export interface VersionRange {
  readonly oldest?: number | undefined;
  readonly newest?: number | undefined;
}

/** `floor`: the oldest version that any update of the buffer may be trained on. */
export function boundedAge(
  told: number,
  { now, floor, ranges }: { readonly now: number; readonly floor: number; readonly ranges: readonly VersionRange[] },
): number {
  const mean = (versionOf: (range: VersionRange) => number): number =>
    ranges.reduce((sum, range) => sum + now - Math.min(now, versionOf(range)), 0) / Math.max(1, ranges.length);
  const least = mean(({ newest = now }) => newest);
  const most = mean(({ oldest = floor }) => Math.max(floor, oldest));
  return Math.min(most, Math.max(least, told));
}
