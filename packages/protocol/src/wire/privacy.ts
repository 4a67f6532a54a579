/** The lines of a policy that make its sums differentially private, and their effect on a sum. */
import {
  epsilonOf,
  inclusionCost,
  type Modulus,
  type Noise,
  noiseOf,
  noiseProblem,
  noisySumBound,
  quantizedBound,
  signedCapacity,
} from '@basa/masking';
import { checked, type Field, optional, positive, record, u16, u32 } from './fields.ts';
import type { MetricRange } from './metrics.ts';
import type { OneShotPolicy } from './one-shot/policy.ts';

/** With it, `clip` bounds the L2 norm of an update instead of its entries, every update counts 1, and no metric is reported. */
export interface PrivacyPolicy {
  /** z: the noise of the honest users of a sum, in sensitivities. An inclusion costs rho = 1/(2 z^2). */
  readonly noiseMultiplier: number;
  /** c_max: the number of users in a sum that may reveal their noise to the server. */
  readonly colluders: number;
  /** The delta for which epsilon is stated. */
  readonly delta: number;
  /** The budget, as inclusions of a device: rho_max = participations / (2 z^2). Whole numbers add up exactly. */
  readonly participations: number;
}

/** Epsilon of a device after this many inclusions; by default after its whole budget. */
export function epsilonBudget(
  { noiseMultiplier, delta, participations }: PrivacyPolicy,
  inclusions: number = participations,
): number {
  return epsilonOf(inclusions * inclusionCost(noiseMultiplier), delta);
}

const MAX_NOISE = 1e6;

/** One byte says whether there are any. */
export const privacyField: Field<PrivacyPolicy | undefined> = optional(
  record<PrivacyPolicy>({
    noiseMultiplier: checked(positive, (value) => (value <= MAX_NOISE ? undefined : `above ${MAX_NOISE}`)),
    colluders: u16,
    delta: checked(positive, (value) => (value < 1 ? undefined : 'not below 1')),
    participations: checked(u32, (value) => (value >= 1 ? undefined : 'must be at least 1')),
  }),
);

/** The lines of a policy that decide about noise. */
export interface NoisyTask {
  readonly dimension: number;
  readonly level: number;
  readonly clip: number;
  readonly minimum: number;
  readonly privacy: PrivacyPolicy | undefined;
  readonly oneShot: OneShotPolicy | undefined;
}

interface WholeTask extends NoisyTask {
  readonly bufferSize: number;
  readonly modulus: Modulus;
  readonly metrics: readonly MetricRange[];
}

/** The noise that each device of a private task adds, or its authority; undefined if the task is not private. */
export function taskNoise({ privacy, oneShot, ...task }: NoisyTask): Noise | undefined {
  return privacy && noiseOf({ ...task, ...privacy, isCentral: oneShot?.authorityNoise ?? false });
}

/** The largest absolute value of a coordinate of an honest sum. */
export function sumBound(task: NoisyTask, accepted: number): number {
  const noise = taskNoise(task);
  return noise === undefined ? accepted * quantizedBound(task) : noisySumBound(task, noise, accepted);
}

/** Returns a sentence that says why a private task with this policy is impossible, or undefined. */
export function privacyProblem(policy: WholeTask): string | undefined {
  const { privacy, bufferSize, modulus, metrics } = policy;
  if (privacy === undefined) return undefined;
  if (metrics.length > 0) return 'a private task names no metrics: their exact sums would void epsilon';
  const problem = noiseProblem({ ...policy, ...privacy, isCentral: policy.oneShot?.authorityNoise ?? false });
  if (problem !== undefined) return problem;
  const [largest, capacity] = [sumBound(policy, bufferSize), signedCapacity(modulus)];
  return largest <= capacity
    ? undefined
    : `a sum of ${bufferSize} updates with their noise reaches ${largest}, the group holds ${capacity}: use a wider ring, a lower level or less noise`;
}
