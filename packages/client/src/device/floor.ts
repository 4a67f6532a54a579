/** An application's own demands on every policy: the task is pinned by its name, and a name may be chosen carelessly. */
import { OneShotRules, Privacy, type TaskPolicy, Training } from '@basa/protocol/policy';

export interface Floor {
  /** The smallest acceptable number of updates in a sum that were trained on one model: Kmin, or less if batches mix versions; 3 by default. */
  readonly minimum: number;
  /** The most versions that an update may be behind. */
  readonly maxStaleness: number;
  /** Allows a task without noise: a server that chooses the model can read single examples out of exact sums. */
  readonly noNoise?: boolean;
  /** Allows a task of the paper, whose sums mix versions of the model: its server can single out an update. */
  readonly unsafeMixedVersions?: boolean;
  /** At least two authorities must vouch for every sum of masks, so that a single authority cannot shift a sum. */
  readonly checkedSums?: boolean;
  /** The devices add the noise of a private task. If its only authority does, that authority can leave the noise out. */
  readonly deviceNoise?: boolean;
  /** The limit on what all sums together may reveal about this device; without it a task need not be private. */
  readonly privacy?: PrivacyFloor;
}

export interface PrivacyFloor {
  /** The largest epsilon of the task's whole budget. */
  readonly epsilon: number;
  /** The delta for which that epsilon is computed, regardless of the policy's delta. */
  readonly delta: number;
  /** The number of users in a sum that may reveal their noise to the server without epsilon growing; 0 by default. */
  readonly colluders?: number;
}

/** In a sum of two updates, each device could subtract its own. */
export const DEFAULT_FLOOR: Floor = { minimum: 3, maxStaleness: Training.DEFAULT_MAX_STALENESS };

/** Returns the part of the policy that is below the floor, or undefined. */
export function floorProblem(floor: Floor, policy: TaskPolicy): string | undefined {
  const { minimum, maxStaleness, noNoise = false, privacy, unsafeMixedVersions = false } = floor;
  if (policy.versions === 'unsafeMixed' && !unsafeMixedVersions)
    return 'its sums mix versions of the model, which lets its server single out an update; this device demands one version per sum';
  const least = policy.oneShot?.versionMinimum ?? policy.minimum;
  if (!(least >= minimum))
    return `a sum may contain only ${least} updates of one version; this device demands at least ${minimum} (floor: { minimum: ${least} } does not)`;
  if (!(policy.maxStaleness <= maxStaleness))
    return `updates may be ${policy.maxStaleness} versions behind; this device accepts at most ${maxStaleness}`;
  const below = oneShotFloorProblem(floor, policy) ?? (privacy && privacyFloorProblem(privacy, policy));
  if (below !== undefined || policy.privacy !== undefined || noNoise) return below;
  if (policy.statistics !== undefined)
    return 'its sums are exact; this device demands noise (floor: { noNoise: true } does not)';
  return 'its sums have no noise, so a server that chooses the model can read single examples; this device demands noise (floor: { noNoise: true } does not)';
}

function oneShotFloorProblem(
  { checkedSums = false, deviceNoise = false }: Floor,
  { oneShot }: TaskPolicy,
): string | undefined {
  if (oneShot === undefined) return undefined;
  if (checkedSums && OneShotRules.vouchersOf(oneShot) < 2)
    return 'only one authority computes the sum of the masks and could shift a sum; this device demands checked sums';
  if (deviceNoise && oneShot.authorityNoise)
    return 'the authority adds the noise and could leave it out; this device demands that the devices add it';
  return undefined;
}

function privacyFloorProblem(
  { epsilon, delta, colluders = 0 }: PrivacyFloor,
  { privacy, metrics }: TaskPolicy,
): string | undefined {
  if (!(delta > 0 && delta < 1)) return `delta must be between 0 and 1, got ${delta}`;
  if (privacy === undefined) return `the task adds no noise; this device demands epsilon of at most ${epsilon}`;
  if (privacy.budget === undefined)
    return `the task only blurs sums and has no budget; this device demands epsilon of at most ${epsilon}`;
  if (!(privacy.colluders >= colluders))
    return `the noise tolerates ${privacy.colluders} colluding devices; this device demands ${colluders}`;
  const spent = Privacy.epsilonAfter({ privacy, metrics }, { ...privacy.budget, delta });
  if (!(spent <= epsilon))
    return `the total epsilon is ${spent.toFixed(2)} at delta ${delta}; this device accepts at most ${epsilon}`;
  return undefined;
}
