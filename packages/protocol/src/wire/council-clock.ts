/** The time as several authorities tell it: one that lies about its clock moves nobody's. */
import type { Council } from './council.ts';

/** The most by which the clock of a device may be wrong: more than a wrong time zone. */
export const MAX_CLOCK_ERROR_MS = 24 * 3_600_000;

export interface CouncilClock {
  /** `own`: too few told the time. `wrong`: the clocks of most are farther from the device's than a clock may be. */
  readonly kind: 'own' | 'agreed' | 'wrong';
  /** What is added to the device's clock. Where that is wrong, by how much it is behind. */
  readonly offsetMs: number;
}

/** `offsets` are the clocks of those that told the time, less the device's: the median of those that are possible counts. */
export function councilClock({ threshold }: Pick<Council, 'threshold'>, offsets: readonly number[]): CouncilClock {
  if (offsets.length < threshold) return { kind: 'own', offsetMs: 0 };
  const possible = offsets.filter(isPossibleOffset);
  const far = offsets.filter((offset) => !isPossibleOffset(offset));
  return far.length > possible.length
    ? { kind: 'wrong', offsetMs: medianOf(far) }
    : { kind: 'agreed', offsetMs: medianOf(possible) };
}

/** Whether a clock that is right can be this far from the device's. */
export function isPossibleOffset(offsetMs: number): boolean {
  return Math.abs(offsetMs) <= MAX_CLOCK_ERROR_MS;
}

/** The lower one of two in the middle. */
function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}
