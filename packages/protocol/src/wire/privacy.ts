/** The lines of a policy about noise: how much, who adds it, and the budget of a private task. Their effect on a sum. */
import {
  epsilonOf,
  inclusionCost,
  MIN_DEVIATION,
  type Modulus,
  type Noise,
  type NoiseRequest,
  noiseOf,
  noiseProblem,
  noisySumBound,
  quantizedBound,
  signedCapacity,
} from '@basa/masking';
import { checked, type Field, optional, positive, record, u16, u32 } from './fields.ts';
import type { OneShotPolicy } from './one-shot-policy.ts';
import type { StatisticsPolicy } from './statistics.ts';
import type { MetricRange } from './training.ts';

/** With it, every update counts 1. With a budget the task is private; without one its noise is called blur. */
export interface PrivacyPolicy {
  /** z: the noise of the honest users of a sum, in sensitivities. An inclusion costs rho = 1/(2 z^2). */
  readonly noiseMultiplier: number;
  /** c_max: the number of users in a sum that may reveal their noise to the server. */
  readonly colluders: number;
  /** Of each device. A task with z of at least 1 has one. */
  readonly budget: PrivacyBudget | undefined;
}

export interface PrivacyBudget {
  /** The delta for which epsilon is stated. */
  readonly delta: number;
  /** The budget, as inclusions of a device: rho_max = participations times the cost of one. Whole numbers add up exactly. */
  readonly participations: number;
}

/** Less noise hides nothing. */
const LEAST_NOISE = 0.01;

/** The noise in the mean of a sum, as a multiple of the longest update. */
export function noiseOverSignal(noiseMultiplier: number, { bufferSize, dimension }: SumSize): number {
  return (noiseMultiplier * Math.sqrt(dimension)) / bufferSize;
}

/**
 * z of a task that says nothing else: min(1, K/100), and no more noise than signal in a mean, which costs at most a point of accuracy
 * (docs/privacy.md).
 */
export function defaultNoise(sum: SumSize): number {
  const asSignal = 1 / noiseOverSignal(1, sum);
  return Number(Math.min(1, sum.bufferSize / 100, Math.max(LEAST_NOISE, asSignal)).toPrecision(2));
}

interface SumSize {
  readonly bufferSize: number;
  readonly dimension: number;
}

/** From this z on, a task has a budget. */
export const PRIVATE_FROM = 1;
/** All metrics together cost a tenth of what the update costs. */
const METRICS_COST = 1.1;

interface PricedTask {
  readonly privacy: Pick<PrivacyPolicy, 'noiseMultiplier'>;
  readonly metrics: readonly unknown[];
}

/** rho of one inclusion, with its metrics. */
export function taskCost({ privacy, metrics }: PricedTask): number {
  return inclusionCost(privacy.noiseMultiplier) * (metrics.length > 0 ? METRICS_COST : 1);
}

/** Epsilon of a device after this many inclusions. */
export function epsilonAfter(task: PricedTask, { delta, participations }: PrivacyBudget): number {
  return epsilonOf(participations * taskCost(task), delta);
}

/** Epsilon of a device after its whole budget; undefined if the task is not private. */
export function epsilonBudget({
  privacy,
  metrics,
}: {
  readonly privacy: PrivacyPolicy | undefined;
  readonly metrics: readonly unknown[];
}): number | undefined {
  if (privacy?.budget === undefined) return undefined;
  return epsilonAfter({ privacy, metrics }, privacy.budget);
}

const MAX_NOISE = 1e6;

/** One byte says whether there are any. */
export const privacyField: Field<PrivacyPolicy | undefined> = optional(
  record<PrivacyPolicy>({
    noiseMultiplier: checked(positive, (value) => (value <= MAX_NOISE ? undefined : `above ${MAX_NOISE}`)),
    colluders: u16,
    budget: optional(
      record<PrivacyBudget>({
        delta: checked(positive, (value) => (value < 1 ? undefined : 'not below 1')),
        participations: checked(u32, (value) => (value >= 1 ? undefined : 'must be at least 1')),
      }),
    ),
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
  readonly statistics: StatisticsPolicy | undefined;
}

interface WholeTask extends NoisyTask {
  readonly bufferSize: number;
  readonly modulus: Modulus;
  readonly metrics: readonly MetricRange[];
}

/** The noise that each device adds, or the authority; undefined without noise. */
export function taskNoise({ privacy, ...task }: NoisyTask): Noise | undefined {
  return privacy && noiseOf(noiseRequest(task, privacy));
}

function noiseRequest(
  { oneShot, statistics, ...task }: Omit<NoisyTask, 'privacy'>,
  privacy: PrivacyPolicy,
): NoiseRequest {
  return { ...task, ...privacy, isCentral: oneShot?.authorityNoise ?? false, isWhole: statistics !== undefined };
}

/** The uploads that a device may give in the life of the task; undefined without limit. */
export function participationsOf({
  privacy,
  statistics,
}: Pick<NoisyTask, 'privacy' | 'statistics'>): number | undefined {
  return statistics?.unsafeExact === true ? 1 : privacy?.budget?.participations;
}

/** The largest absolute value of a coordinate of an honest sum. */
export function sumBound(task: NoisyTask, accepted: number): number {
  const noise = taskNoise(task);
  return noise === undefined ? accepted * quantizedBound(task) : noisySumBound(task, noise, accepted);
}

/** How values of metrics become words: the place in the range, 0 .. scale, minus the offset. */
export interface MetricCode {
  readonly scale: number;
  readonly offset: number;
  /** Of the noise of one party, if the task has noise. */
  readonly variance: number | undefined;
  /** Noise may move a sum of this many words beyond its range by so much. */
  slack(accepted: number): number;
}

export type MetricTask = Pick<WholeTask, 'bufferSize' | 'minimum' | 'modulus' | 'metrics' | 'privacy' | 'oneShot'>;

/** Steps of a range, and of noise: finer ones would only cost bits and large tables. */
const MAX_SCALE = 4096;
const MAX_METRIC_DEVIATION = 1024;
/** A sum that deviates by more than this many deviations is not a sum of honest words. */
const DEVIATIONS = 10;

/**
 * With noise, a range is centred on zero, so that one word is at most half of it, and each word gets noise of z sqrt(10 M) times that, for M
 * metrics. The scale is the finest whose sums fit the group.
 */
export function metricCode({ privacy, metrics, ...task }: MetricTask, weightScale: number): MetricCode {
  if (privacy === undefined) return { scale: weightScale, offset: 0, variance: undefined, slack: () => 0 };
  const isCentral = task.oneShot?.authorityNoise ?? false;
  const honest = isCentral ? 1 : task.minimum - privacy.colluders;
  /** The deviation of one party at a scale of 1, and the largest sum. */
  const unit = (privacy.noiseMultiplier * Math.sqrt(10 * metrics.length)) / 2 / Math.sqrt(honest);
  const largest = task.bufferSize / 2 + DEVIATIONS * unit * Math.sqrt(isCentral ? 1 : task.bufferSize);
  const finest = Math.min(MAX_SCALE, (signedCapacity(task.modulus) - 1) / largest, MAX_METRIC_DEVIATION / unit);
  const offset = Math.floor(finest / 2);
  const deviation = unit * 2 * offset;
  return {
    scale: 2 * offset,
    offset,
    variance: deviation ** 2,
    slack: (accepted) => Math.ceil(DEVIATIONS * deviation * Math.sqrt(isCentral ? 1 : accepted)),
  };
}

/** Returns a sentence that says why a task with this noise is impossible, or undefined. */
export function privacyProblem(policy: WholeTask): string | undefined {
  const { privacy, bufferSize, modulus, metrics } = policy;
  if (privacy === undefined) return undefined;
  if (privacy.noiseMultiplier >= PRIVATE_FROM && privacy.budget === undefined)
    return `noise of ${PRIVATE_FROM} and more needs a budget: delta and participations`;
  if (metrics.some(({ name }) => name === 'examples'))
    return 'a task with noise has no metric "examples": all updates have the same weight, and their numbers would tell devices apart';
  const problem = noiseProblem(noiseRequest(policy, privacy));
  if (problem !== undefined) return problem;
  const [largest, capacity] = [sumBound(policy, bufferSize), signedCapacity(modulus)];
  if (largest > capacity)
    return `a sum of ${bufferSize} updates with their noise reaches ${largest}, the group holds ${capacity}: use a wider ring, a lower level or less noise`;
  const { variance = 0 } = metrics.length > 0 ? metricCode(policy, 0) : { variance: MIN_DEVIATION ** 2 };
  return variance >= MIN_DEVIATION ** 2
    ? undefined
    : `the noise of a metric would have a deviation of ${Math.sqrt(variance).toPrecision(3)}, at least ${MIN_DEVIATION} is needed: use a wider ring`;
}

/** From this z on, known traps read no single example (docs/threat-model.md). */
export const BLURS_FROM = 0.05;
/** A larger epsilon promises little. */
export const WEAK_EPSILON = 20;

interface NoisyPolicy {
  readonly privacy: Pick<PrivacyPolicy, 'noiseMultiplier' | 'colluders' | 'budget'> | undefined;
  readonly metrics: readonly unknown[];
  readonly oneShot: Pick<OneShotPolicy, 'authorityNoise'> | undefined;
  /** Missing or undefined in a task with a model. */
  readonly statistics?: object | undefined;
}

export interface NoiseWords {
  /** Blur is noise without a budget. */
  readonly kind: 'none' | 'blur' | 'private';
  /** z; 0 without noise. */
  readonly noiseMultiplier: number;
  readonly by: 'nobody' | 'devices' | 'authority';
  /** All of it, with what it hides and what not. */
  readonly sentence: string;
}

const EXACT_MODEL = 'a server that chooses the model can read single examples out of a sum';
const FAINT = 'too little to hide single examples from a server that chooses the model';
const BLURRED =
  'hides single examples from most attacks that were tried, but not one-bit questions to all devices, amplified words, or averages over many versions';
const EXACT_STATISTICS = 'exact sums of changing groups can reveal single values';

/** The noise of a task for people: who adds it, and what it hides. Commands, pages and clients say the same. */
export function noiseWords(policy: NoisyPolicy): NoiseWords {
  const { privacy, oneShot } = policy;
  if (privacy === undefined)
    return {
      kind: 'none',
      noiseMultiplier: 0,
      by: 'nobody',
      sentence: `no noise: ${policy.statistics === undefined ? EXACT_MODEL : EXACT_STATISTICS}`,
    };
  const { noiseMultiplier, budget } = privacy;
  const by = oneShot?.authorityNoise === true ? 'authority' : 'devices';
  const added = `noise ${noiseMultiplier}, added by the ${by}`;
  if (budget === undefined)
    return {
      kind: 'blur',
      noiseMultiplier,
      by,
      sentence: `blur (${added}): ${noiseMultiplier < BLURS_FROM ? FAINT : BLURRED}`,
    };
  const { delta, participations } = budget;
  const epsilon = epsilonBudget(policy) as number;
  return {
    kind: 'private',
    noiseMultiplier,
    by,
    sentence: `private (${added}): epsilon ${epsilon.toFixed(2)} at delta ${delta} for a device in ${participations} sums${epsilon > WEAK_EPSILON ? ', a weak guarantee' : ', which bounds what all of them reveal about it'}`,
  };
}
