/** What an application asks of every policy, by itself: the task is pinned by its name, and a name may be chosen carelessly. */
import type { TaskPolicy } from '@basa/protocol';
import { DEFAULT_MAX_STALENESS } from '@basa/protocol';

export interface Floor {
  /** The smallest Kmin: so many updates are in a sum at least, of which c_max + 2 withstand c_max colluders. */
  readonly minimum: number;
  /** The most versions that an update may be behind. */
  readonly maxStaleness: number;
}

export const DEFAULT_FLOOR: Floor = { minimum: 2, maxStaleness: DEFAULT_MAX_STALENESS };

/** What of the policy is below the floor, or undefined. */
export function floorProblem({ minimum, maxStaleness }: Floor, policy: TaskPolicy): string | undefined {
  if (!(policy.minimum >= minimum)) return `Kmin is ${policy.minimum}, at least ${minimum} is asked for`;
  if (!(policy.maxStaleness <= maxStaleness))
    return `maxStaleness is ${policy.maxStaleness}, at most ${maxStaleness} is asked for`;
  return undefined;
}
