/** The time according to several authorities. A single authority that lies about its clock has no effect. */
import type { Council } from './council.ts';

/** The most by which the clock of a device may be wrong: more than a wrong time zone. */
export const MAX_CLOCK_ERROR_MS = 24 * 3_600_000;

export interface CouncilClock {
  /** `own`: too few reported the time. `wrong`: the clocks of most are farther from the device's than a clock may be. */
  readonly kind: 'own' | 'agreed' | 'wrong';
  /** The correction of the device's clock. If that clock is wrong, the time by which it is behind. */
  readonly offsetMs: number;
}

/** `offsets` are the reported clocks minus the device's: the median of the possible ones counts. */
export function councilClock({ threshold }: Pick<Council, 'threshold'>, offsets: readonly number[]): CouncilClock {
  if (offsets.length < threshold) return { kind: 'own', offsetMs: 0 };
  const possible = offsets.filter(isPossibleOffset);
  const far = offsets.filter((offset) => !isPossibleOffset(offset));
  return far.length > possible.length
    ? { kind: 'wrong', offsetMs: medianOf(far) }
    : { kind: 'agreed', offsetMs: medianOf(possible) };
}

/** True if a correct clock can be this far from the device's. */
export function isPossibleOffset(offsetMs: number): boolean {
  return Math.abs(offsetMs) <= MAX_CLOCK_ERROR_MS;
}

/** The lower one of two in the middle. */
function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}
