/**
 * The mean age of a sum, bounded by the server's own observations. Devices report their ages, and one liar can set the sum of the ages: the
 * step could be damped as if every update were M versions older than the buffer. But a device cannot train on a version that was made after
 * its deposit. A device with a place fetched its model after it asked for the place, so it did not train on a version that was already old.
 * A liar can use only the range of devices that came without a place or to another node. For each of them this is at most M versions before
 * the buffer's version.
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
