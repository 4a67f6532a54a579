/** A task with noise before it is created: its plan, and advice. `plan` and `task create` print the same. */
import type { PrivacyChoice } from '@basa/client/operator';
import type { PrivatePlan } from '@basa/masking';
import type { NoiseWords } from '@basa/protocol/policy';
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
  readonly words: NoiseWords;
  readonly advice: readonly string[];
}

/** Returns a sentence if the task is impossible. */
export async function planPrivacy(request: PrivateRequest): Promise<PlannedPrivacy | string> {
  const { planPrivate } = await import('@basa/masking');
  const { CLIPPED, defaultMinimum, epsilonBudget, noiseOverSignal, noiseWords, taskCost } = await import(
    '@basa/protocol/policy'
  );
  const { privacy, bufferSize } = request;
  const { noiseMultiplier, participations, delta = 1e-6, colluders = Math.floor(bufferSize / 10) } = privacy;
  const usual = Math.min(bufferSize, defaultMinimum(bufferSize, colluders));
  const minimum = within(request.minimum ?? usual, 'minimum', { min: 2, max: bufferSize });
  const planned = planPrivate({ ...request, noiseMultiplier, colluders, minimum });
  if (planned.kind === 'refused') return planned.sentence;
  const budget = participations === undefined ? undefined : { delta, participations };
  const task = { privacy: { noiseMultiplier, colluders, budget }, metrics: [CLIPPED] };
  const epsilon = epsilonBudget(task);
  const { plan } = planned;
  const over = noiseOverSignal(noiseMultiplier, request);
  const weak = await weaknessOf(epsilon, noiseMultiplier);
  const advice = [...weak, ...(await thinness(noiseMultiplier, request)), ...priceOf(over)];
  const words = noiseWords({ ...task, oneShot: { authorityNoise: request.isCentral } });
  return { plan, minimum, colluders, delta, cost: taskCost(task), epsilon, words, advice };
}

export async function weaknessOf(epsilon: number | undefined, noiseMultiplier: number): Promise<readonly string[]> {
  const { WEAK_EPSILON } = await import('@basa/protocol/policy');
  if (epsilon === undefined || epsilon <= WEAK_EPSILON) return [];
  const more = (2 * noiseMultiplier).toPrecision(2);
  return [`epsilon ${epsilon.toFixed(1)} is a weak guarantee; lower --participations, or raise --noise to ${more}`];
}

async function thinness(noiseMultiplier: number, { dimension }: PrivateRequest): Promise<readonly string[]> {
  const { BLURS_FROM } = await import('@basa/protocol/policy');
  if (noiseMultiplier >= BLURS_FROM) return [];
  const least = Math.max(100 * BLURS_FROM, Math.ceil(BLURS_FROM * Math.sqrt(dimension)));
  return [
    `noise ${noiseMultiplier} is too little to hide single examples from a server that chooses the model: use a --buffer of at least ${least}, or --noise ${BLURS_FROM} if the accuracy allows it`,
  ];
}

/** Up to this noise over signal, the measured price is at most about a point. */
const CHEAP = 1.5;

function priceOf(over: number): readonly string[] {
  if (over <= CHEAP) return [];
  return [
    `the noise in a mean is ${over.toPrecision(2)} times as long as an update: a network that trains for hundreds of versions loses accuracy (docs/privacy.md); use a larger --buffer, a smaller model or a smaller --noise`,
  ];
}
