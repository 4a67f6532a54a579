/** The rules that decide about a sum, the same for every mode. */
import { weightScale } from '@basa/masking';
import type { TaskPolicy } from './policy.ts';

export interface SumRules extends TaskPolicy {
  /** W, the scale of masked weights. */
  readonly weightScale: number;
  /** t: the version that the updates were trained on, or the newest at the draw if versions are mixed. */
  readonly version: number;
}

export function sumRules(policy: TaskPolicy, version: number): SumRules {
  return { ...policy, weightScale: weightScale(policy.bufferSize, policy.modulus), version };
}
