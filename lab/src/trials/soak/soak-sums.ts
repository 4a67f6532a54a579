/** How sums end, and whether they are exact; it differs from mode to mode. */
export interface SoakSums {
  /** How those that have ended have. */
  endings(): Promise<readonly string[]>;
  /** Versions that are not the sum of what they are said to hold. */
  inexact(): Promise<readonly number[]>;
}
