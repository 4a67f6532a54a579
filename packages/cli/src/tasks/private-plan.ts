/** A task with noise before it is created: its plan, and advice. `plan` and `task create` print the same. */
import type { PrivacyChoice } from '@basa/client/operator';
import type { PrivatePlan } from '@basa/masking';
import { within } from '../shell/flag.ts';

export interface PrivateRequest {
  readonly privacy: PrivacyChoice & { readonly noiseMultiplier: number };
  readonly dimension: number;
  readonly bufferSize: number;
  readonly minimum: number | undefined;
  readonly clip: number;
  /** The authority adds the noise. */
  readonly isCentral: boolean;
}

export interface PlannedPrivacy {
  readonly plan: PrivatePlan;
  readonly minimum: number;
  readonly colluders: number;
  readonly delta: number;
  /** rho of one inclusion. */
  readonly cost: number;
  /** After all inclusions; undefined without a budget. */
  readonly epsilon: number | undefined;
  readonly advice: readonly string[];
}

/** Returns a sentence if the task is impossible. */
export async function planPrivacy(request: PrivateRequest): Promise<PlannedPrivacy | string> {
  const { planPrivate } = await import('@basa/masking');
  const { defaultMinimum, epsilonBudget, taskCost } = await import('@basa/protocol');
  const { privacy, bufferSize } = request;
  const { noiseMultiplier, participations, delta = 1e-6, colluders = Math.floor(bufferSize / 10) } = privacy;
  const usual = Math.min(bufferSize, defaultMinimum(bufferSize, colluders));
  const minimum = within(request.minimum ?? usual, 'minimum', { min: 2, max: bufferSize });
  const planned = planPrivate({ ...request, noiseMultiplier, colluders, minimum });
  if (planned.kind === 'refused') return planned.sentence;
  const budget = participations === undefined ? undefined : { delta, participations };
  const task = { privacy: { noiseMultiplier, colluders, budget }, metrics: [] };
  const epsilon = epsilonBudget(task);
  const { plan } = planned;
  return { plan, minimum, colluders, delta, cost: taskCost(task), epsilon, advice: adviceOf(epsilon, noiseMultiplier) };
}

function adviceOf(epsilon: number | undefined, noiseMultiplier: number): readonly string[] {
  if (epsilon === undefined || epsilon <= 20) return [];
  const more = (2 * noiseMultiplier).toPrecision(2);
  return [`epsilon ${epsilon.toFixed(1)} is a weak guarantee; lower --participations, or raise --noise to ${more}`];
}
