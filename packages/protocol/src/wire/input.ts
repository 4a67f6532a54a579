/**
 * The words of an input: x' = [1, 0, 0, 0 | w | metrics | x | 0, 0, 0, 0].
 *
 * Guard words at both ends show whether an input was masked whole, and a sum has the expected number of inputs; w is the weight, then one
 * word for each metric that the task names. The server learns the sums of weights and metrics, and no single one.
 */
import { addNoiseInPlace, noiseTable, type RandomWords, toResidue, toSigned, weightScale } from '@basa/masking';
import type { TaskPolicy } from './policy.ts';
import { type MetricTask, metricCode } from './privacy.ts';
import { metricMean, metricWord } from './training.ts';

/** The rules that decide about a sum, the same for every mode. */
export interface SumRules extends TaskPolicy {
  /** W, the scale of masked weights. */
  readonly weightScale: number;
  /** t: the version that the updates were trained on, or the newest at the draw if versions are mixed. */
  readonly version: number;
}

export function sumRules(policy: TaskPolicy, version: number): SumRules {
  return { ...policy, weightScale: weightScale(policy.bufferSize, policy.modulus), version };
}

/** The number of guard words at each end. */
const GUARDS = 4;
export const GUARD_WORDS: number = 2 * GUARDS;
const WEIGHT = GUARDS;
/** The position of the first word of the metrics. */
const METRICS = GUARDS + 1;

/** The number of words before the update. */
export function prefixElements({ metrics }: Pick<TaskPolicy, 'metrics'>): number {
  return METRICS + metrics.length;
}

type Shape = Pick<TaskPolicy, 'metrics' | 'dimension'>;

/** The number of words of x'. */
export function inputElements(shape: Shape): number {
  return prefixElements(shape) + shape.dimension + GUARDS;
}

/** The eight guard words of a vector as long as x'. */
export function guardWordsOf(vector: Uint32Array): Uint32Array {
  return Uint32Array.of(...vector.subarray(0, GUARDS), ...vector.subarray(-GUARDS));
}

/** Of the words of x' from number `from` on: those of the update, and the guard words behind it. */
export function updateWords(
  shape: Shape,
  words: Uint32Array,
  from = 0,
): { readonly update: Uint32Array; readonly behind: Uint32Array } {
  const first = prefixElements(shape) - from;
  const end = Math.max(0, first + shape.dimension);
  return { update: words.subarray(Math.max(0, first), end), behind: words.subarray(end) };
}

/** Whoever adds noise to the update adds it to the metrics, too. The vector begins with the prefix. */
export function addMetricNoise(task: MetricTask, vector: Uint32Array, randomWords: RandomWords): void {
  const { variance } = metricCode(task, 0);
  if (task.metrics.length === 0 || variance === undefined) return;
  const words = vector.subarray(METRICS, METRICS + task.metrics.length);
  addNoiseInPlace(words, noiseTable(variance), task.modulus, randomWords);
}

interface PrefixInput {
  /** w. */
  readonly weight: number;
  /** By name. */
  readonly metrics: Readonly<Record<string, number>>;
}

type PrefixRules = MetricTask & Pick<SumRules, 'weightScale'>;

export function writePrefix(vector: Uint32Array, rules: PrefixRules, { weight, metrics }: PrefixInput): void {
  vector[0] = 1;
  vector[WEIGHT] = weight;
  const { scale, offset } = metricCode(rules, rules.weightScale);
  for (const [n, metric] of rules.metrics.entries()) {
    const word = metricWord(metric, metrics[metric.name] ?? Number.NaN, scale) - offset;
    vector[METRICS + n] = toResidue(word, rules.modulus);
  }
}

export type PrefixVerdict =
  | {
      readonly kind: 'good';
      readonly weightSum: number;
      /** Mean of each metric over the accepted, by its name. */
      readonly metrics: Readonly<Record<string, number>>;
    }
  | { readonly kind: 'quarantine'; readonly why: string };

/**
 * The first guard words must be (|A|, 0, 0, 0). The sum of w must be in [|A| w_min, |A| W], and the sum of a metric in [0, |A| W], up to its noise. The vector begins with the prefix.
 *
 * These are ranges of sums. A word of one device may be any residue, so one liar can set each sum to any value within its range, using the
 * room that honest devices leave: the mean of a metric is only as true as the least honest device of the sum.
 */
export function judgePrefix(rules: PrefixRules, vector: Uint32Array, accepted: number): PrefixVerdict {
  const { modulus, weightScale, metrics } = rules;
  const quarantine = (why: string): PrefixVerdict => ({ kind: 'quarantine', why });
  const [count, ...zeros] = Array.from(vector.subarray(0, GUARDS), (residue) => toSigned(residue, modulus));
  if (count !== accepted || zeros.some((guard) => guard !== 0)) return quarantine('the guard words are wrong');
  const weightSum = toSigned(vector[WEIGHT] as number, modulus);
  if (weightSum < accepted * leastWeight(rules) || weightSum > accepted * weightScale)
    return quarantine('the sum of weights is out of range');
  const { scale, offset, slack } = metricCode(rules, weightScale);
  const sums = metrics.map((_, n) => toSigned(vector[METRICS + n] as number, modulus) + accepted * offset);
  const [low, high] = [-slack(accepted), accepted * scale + slack(accepted)];
  const wrong = metrics.find((_, n) => (sums[n] as number) < low || (sums[n] as number) > high);
  if (wrong !== undefined) return quarantine(`the sum of the metric ${wrong.name} is out of range`);
  const means = metrics.map((metric, n) => [metric.name, metricMean(metric, sums[n] as number, accepted, scale)]);
  return { kind: 'good', weightSum, metrics: Object.fromEntries(means) };
}

/** The guard words behind the update must be 0; undefined if they are. */
export function judgeBehind(behind: Uint32Array): Extract<PrefixVerdict, { kind: 'quarantine' }> | undefined {
  return behind.some((word) => word !== 0) ? { kind: 'quarantine', why: 'the guard words are wrong' } : undefined;
}

/** w_min: 1, because an example weight may be arbitrarily small. With noise every update has the whole weight, up to one unit of rounding. */
function leastWeight({ privacy, weightScale }: Pick<SumRules, 'privacy' | 'weightScale'>): number {
  return privacy === undefined ? 1 : Math.max(1, weightScale - 1);
}
