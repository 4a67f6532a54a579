/** A private task before it is created: its plan, whether it can learn, and advice. `plan` and `task create` print the same. */
import type { PrivacyChoice } from '@basa/client/operator';
import type { PrivatePlan } from '@basa/masking';
import { MOST_UPDATES } from '../flags/modes.ts';
import { within } from '../shell/flag.ts';

/** Logistic regression on MNIST still learns at 13, 23 points worse (docs/privacy.md); averaging 50 away takes 2,500 buffers for one. */
const HOPELESS = 50;

export interface PrivateRequest {
  readonly privacy: PrivacyChoice;
  readonly dimension: number;
  readonly bufferSize: number;
  readonly minimum: number | undefined;
  readonly clip: number;
}

export interface PlannedPrivacy {
  readonly plan: PrivatePlan;
  readonly minimum: number;
  readonly colluders: number;
  readonly delta: number;
  /** rho of one inclusion, and epsilon after all of them. */
  readonly cost: number;
  readonly epsilon: number;
  /** False if the noise exceeds the signal by far. */
  readonly works: boolean;
  readonly advice: readonly string[];
}

/** Returns a sentence if the task is impossible. */
export async function planPrivacy(request: PrivateRequest): Promise<PlannedPrivacy | string> {
  const { bufferForSignal, planPrivate } = await import('@basa/masking');
  const { defaultMinimum, epsilonAfter, taskCost } = await import('@basa/protocol');
  const { privacy, bufferSize } = request;
  const colluders = privacy.colluders ?? Math.floor(bufferSize / 10);
  const usual = Math.min(bufferSize, defaultMinimum(bufferSize, colluders));
  const minimum = within(request.minimum ?? usual, 'minimum', { min: 2, max: bufferSize });
  const delta = privacy.delta ?? 1e-6;
  const planned = planPrivate({ ...privacy, ...request, colluders, minimum });
  if (planned.kind === 'refused') return planned.sentence;
  const { plan } = planned;
  const enough = { needed: bufferForSignal(plan, bufferSize), max: MOST_UPDATES['one-shot'] };
  const works = plan.noiseToSignal <= HOPELESS;
  const task = { privacy, metrics: [] };
  const { participations = 1 } = privacy;
  const epsilon = epsilonAfter(task, { delta, participations });
  const advice = adviceOf({ ...plan, epsilon }, privacy.noiseMultiplier, enough);
  return { plan, minimum, colluders, delta, epsilon, cost: taskCost(task), works, advice };
}

/** The advice, in numbers. */
function adviceOf(
  { noiseToSignal, epsilon }: PrivatePlan & { readonly epsilon: number },
  noiseMultiplier: number,
  positions: { readonly needed: number; readonly max: number },
): readonly string[] {
  const { needed, max } = positions;
  const larger =
    needed <= max
      ? `increase --buffer to ${needed}`
      : `use a smaller model: this one needs --buffer ${needed}, and at most ${max} is possible`;
  return [
    ...(noiseToSignal > HOPELESS
      ? [`this task will not learn, because the noise is ${noiseToSignal.toFixed(0)} times the signal; ${larger}`]
      : []),
    ...(noiseToSignal > 1.5 && noiseToSignal <= HOPELESS
      ? [`the noise in one sum is larger than the signal, so training needs more sums; to avoid that, ${larger}`]
      : []),
    ...(epsilon > 20
      ? [
          `epsilon ${epsilon.toFixed(1)} is a weak guarantee; lower --participations, or raise --noise to ${(2 * noiseMultiplier).toPrecision(2)}`,
        ]
      : []),
  ];
}
