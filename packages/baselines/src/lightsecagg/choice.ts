/** The settings in which rounds and buffers differ. */
import type { CodeParameters } from './parameters.ts';

export interface LightSecAggChoice {
  readonly code: CodeParameters;
  /** The smallest and the largest number of updates in a sum. */
  readonly fewest: number;
  readonly most: number;
  readonly staleness: (user: number) => number;
  /** 1 if it is not given. */
  readonly weightOf?: (staleness: number) => number;
}
