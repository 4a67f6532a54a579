/** The ends of sums, and the check that they are exact; each mode has its own. */
export interface SoakSums {
  /** The ends of the sums that have ended. */
  endings(): Promise<readonly string[]>;
  /** Versions that are not the sum of the updates listed for them. */
  inexact(): Promise<readonly number[]>;
}
