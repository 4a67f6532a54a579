/**
 * The words before the update: x' = [1, 0, 0, 0 | w | metrics | x], and with mixed versions [1, 0, 0, 0 | w | v | metrics | x].
 *
 * Guard words show whether a sum contains the expected number of honest inputs, w is the weight, v the version the update was trained on,
 * then one word for each metric that the task names. The server learns the sums of these words and no single one.
 */
import { integerWeight, toSigned } from '@basa/masking';
import { metricMean, metricWord } from './metrics.ts';
import type { TaskPolicy } from './policy.ts';
import { stalenessWeight } from './staleness.ts';
import type { SumRules } from './sum-rules.ts';

/** The number of words that show whether an input is valid. */
export const GUARDS = 4;
const WEIGHT = GUARDS;
const VERSION = GUARDS + 1;

/** The position of the first word of the metrics. */
function metricsAt({ versions }: Pick<TaskPolicy, 'versions'>): number {
  return versions === 'unsafeMixed' ? VERSION + 1 : VERSION;
}

/** The number of words before the update. */
export function prefixElements(policy: Pick<TaskPolicy, 'metrics' | 'versions'>): number {
  return metricsAt(policy) + policy.metrics.length;
}

export interface PrefixInput {
  /** w. */
  readonly weight: number;
  /** tau. */
  readonly trainedOn: number;
  /** By name; one for each metric of the task. */
  readonly metrics: Readonly<Record<string, number>>;
}

export type PrefixRules = Pick<
  SumRules,
  'modulus' | 'weightScale' | 'version' | 'versions' | 'maxStaleness' | 'metrics'
>;

export function writePrefix(
  vector: Uint32Array,
  descriptor: PrefixRules,
  { weight, trainedOn, metrics }: PrefixInput,
): void {
  vector[0] = 1;
  vector[WEIGHT] = weight;
  if (descriptor.versions === 'unsafeMixed') vector[VERSION] = versionWord(descriptor, trainedOn);
  const first = metricsAt(descriptor);
  for (const [n, metric] of descriptor.metrics.entries()) {
    vector[first + n] = metricWord(metric, metrics[metric.name] as number, descriptor.weightScale);
  }
}

/** v = clamp(tau - t + M, 0, 2M): relative to the version t of the draw, so that it stays small. */
function versionWord({ version, maxStaleness }: PrefixRules, trainedOn: number): number {
  return Math.min(2 * maxStaleness, Math.max(0, trainedOn - version + maxStaleness));
}

export type PrefixVerdict =
  | {
      readonly kind: 'good';
      readonly weightSum: number;
      /** Sum of v over the accepted; with one version per buffer there is no such word, and its age is known. */
      readonly versionSum: number | undefined;
      /** Mean of each metric over the accepted, by its name. */
      readonly metrics: Readonly<Record<string, number>>;
    }
  | { readonly kind: 'quarantine'; readonly why: string };

/**
 * The guard words must be (|A|, 0, 0, 0). The sum of w must be in [|A| w_min, |A| W], the sum of v in [0, 2 M |A|], and the sum of a metric
 * in [0, |A| W]. The vector begins with the prefix.
 *
 * These are ranges of sums. A word of one device may be any residue, so one liar can set each sum to any value within its range, using the
 * room that honest devices leave: the mean of a metric is only as true as the least honest device of the sum.
 */
export function judgePrefix(
  descriptor: PrefixRules & WeightRule,
  vector: Uint32Array,
  accepted: number,
): PrefixVerdict {
  const { modulus, weightScale, maxStaleness, metrics } = descriptor;
  const quarantine = (why: string): PrefixVerdict => ({ kind: 'quarantine', why });
  const [count, ...zeros] = Array.from(vector.subarray(0, GUARDS), (residue) => toSigned(residue, modulus));
  if (count !== accepted || zeros.some((guard) => guard !== 0)) return quarantine('the guard words are wrong');
  const weightSum = toSigned(vector[WEIGHT] as number, modulus);
  if (weightSum < accepted * leastWeight(descriptor) || weightSum > accepted * weightScale)
    return quarantine('the sum of weights is out of range');
  // Sums of v are below q, not below q/2: they are read without conversion.
  const versionSum = descriptor.versions === 'unsafeMixed' ? (vector[VERSION] as number) : undefined;
  if (versionSum !== undefined && versionSum > 2 * maxStaleness * accepted)
    return quarantine('the sum of versions is out of range');
  const first = metricsAt(descriptor);
  const sums = metrics.map((_, n) => vector[first + n] as number);
  const wrong = metrics.find((_, n) => (sums[n] as number) > accepted * weightScale);
  if (wrong !== undefined) return quarantine(`the sum of the metric ${wrong.name} is out of range`);
  const means = metrics.map((metric, n) => [metric.name, metricMean(metric, sums[n] as number, accepted, weightScale)]);
  return { kind: 'good', weightSum, versionSum, metrics: Object.fromEntries(means) };
}

type WeightRule = Pick<SumRules, 'privacy' | 'staleness'>;

/**
 * w_min: 1, because an example weight may be arbitrarily small. In a private task there is no example weight, and only
 * age reduces the weight of an update; one unit is left for engines whose powers differ in the last bit.
 */
function leastWeight({ privacy, staleness, maxStaleness, weightScale }: PrefixRules & WeightRule): number {
  if (privacy === undefined) return 1;
  return Math.max(1, integerWeight(stalenessWeight(staleness, maxStaleness), weightScale) - 1);
}

/**
 * The mean true age of a sum when it is applied to version `now`. With one version per buffer it is exact: now - t. Otherwise it is now - t
 * + M - (sum of v)/|A|, and 0 if every update was trained on `now`; one liar can set it anywhere between now - t - M and now - t + M, so
 * the server bounds it with its own observations (`boundedAge`). It is never negative, because devices cannot be ahead of the model.
 */
export function meanAgeOf(
  { version, maxStaleness }: PrefixRules,
  {
    versionSum,
    accepted,
    now,
  }: { readonly versionSum: number | undefined; readonly accepted: number; readonly now: number },
): number {
  const oldest = now - version;
  return Math.max(0, versionSum === undefined ? oldest : oldest + maxStaleness - versionSum / accepted);
}
