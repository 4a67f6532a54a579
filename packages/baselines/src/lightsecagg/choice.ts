/** What tells rounds and buffers apart. */
import type { CodeParameters } from './parameters.ts';

export interface LightSecAggChoice {
  readonly code: CodeParameters;
  /** How many updates a sum has at least and at most. */
  readonly fewest: number;
  readonly most: number;
  readonly staleness: (user: number) => number;
  /** 1 where it is not given. */
  readonly weightOf?: (staleness: number) => number;
}
