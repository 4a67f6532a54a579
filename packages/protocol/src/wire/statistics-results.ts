/** Results of a statistics task: whether a sum can be one of honest reports, and the means and counts behind the sums of a window. */
import type { TaskPolicy } from './policy.ts';
import { type NoisyTask, taskNoise } from './privacy.ts';
import {
  fieldScale,
  fieldWords,
  largestWord,
  OTHER,
  type StatisticsField,
  type StatisticsPolicy,
} from './statistics.ts';

export interface StatisticsTask extends Pick<TaskPolicy, 'level'>, NoisyTask {
  readonly statistics: StatisticsPolicy;
}

/** A sum that deviates by more than this many deviations of its noise is not a sum of honest reports. */
const DEVIATIONS = 10;

interface FieldSums {
  readonly field: StatisticsField;
  readonly sums: readonly number[];
}

/** The words of each field. */
function byField({ fields }: StatisticsPolicy, words: ArrayLike<number>): readonly FieldSums[] {
  let at = 0;
  return fields.map((field) => {
    const first = at;
    at += fieldWords(field);
    return { field, sums: Array.from({ length: at - first }, (_, n) => words[first + n] as number) };
  });
}

/** The standard deviation of the noise in one word of a sum of this many reports, which came in so many batches. */
function deviationOf(task: StatisticsTask, devices: number, batches: number): number {
  const noise = taskNoise(task);
  return noise === undefined ? 0 : noise.deviation * Math.sqrt(noise.isCentral ? batches : devices);
}

/** Returns a sentence that says why this is no sum of so many honest reports, or undefined. */
export function statisticsFault(task: StatisticsTask, words: ArrayLike<number>, devices: number): string | undefined {
  const { level, statistics } = task;
  const slack = DEVIATIONS * deviationOf(task, devices, 1);
  for (const { field, sums } of byField(statistics, words)) {
    const most = devices * level * largestWord(field, statistics.fields) + slack;
    const least = field.kind === 'number' ? -most : -slack;
    if (sums.some((sum) => sum < least || sum > most)) return `the sum of the field ${field.name} is out of range`;
    if (field.kind === 'number') continue;
    const total = sums.reduce((all, sum) => all + sum, 0);
    const expected = devices * level * fieldScale(field, statistics.fields);
    if (Math.abs(total - expected) > slack * Math.sqrt(sums.length))
      return `the buckets of the field ${field.name} do not add up to the number of devices`;
  }
  return undefined;
}

/** The sums of a window, over all its batches. */
export interface WindowSums {
  readonly devices: number;
  readonly batches: number;
  /** Of each word, with its level and its noise. */
  readonly sums: readonly number[];
}

/**
 * Errors are standard deviations of the noise, which is known; 0 without noise. They say nothing about devices that did not report, and
 * nothing about the rounding of a number to its steps.
 */
export type FieldResult =
  | { readonly kind: 'number'; readonly name: string; readonly mean: number; readonly error: number }
  | { readonly kind: 'histogram'; readonly name: string; readonly error: number; readonly buckets: readonly Bucket[] };

interface Bucket {
  readonly bucket: string;
  /** Of devices. Noise may make it negative, and no whole number. */
  readonly count: number;
}

/** The results of a window with at least one batch. */
export function fieldResults(task: StatisticsTask, { devices, batches, sums }: WindowSums): readonly FieldResult[] {
  const { level, statistics } = task;
  const deviation = deviationOf(task, devices, batches);
  return byField(statistics, sums).map(({ field, sums: own }): FieldResult => {
    const { name } = field;
    const unit = level * fieldScale(field, statistics.fields);
    const error = deviation / unit;
    if (field.kind === 'number') {
      const step = field.step / devices;
      const mean = (field.low + field.high) / 2 + (step * (own[0] as number)) / unit;
      return { kind: 'number', name, mean, error: step * error };
    }
    const buckets = bucketNames(field).map((bucket, n) => ({ bucket, count: (own[n] as number) / unit }));
    return { kind: 'histogram', name, error, buckets };
  });
}

/** In the order of their words. */
function bucketNames(field: Exclude<StatisticsField, { readonly kind: 'number' }>): readonly string[] {
  if (field.kind === 'choices') return [...field.choices, OTHER];
  const { edges } = field;
  return [...edges.slice(1).map((edge, n) => `${edges[n]}..${edge}`), OTHER];
}

/** The result of one window, as the server tells it. */
export interface WindowResult {
  readonly window: number;
  /** Times of its beginning and its end. */
  readonly from: number;
  readonly to: number;
  /** No further report is awaited. */
  readonly isOver: boolean;
  /** In its sums. */
  readonly devices: number;
  /** Reports that were acknowledged, and are in no sum. */
  readonly lost: number;
  /** Why there is no result, if there is none; then `fields` is empty. */
  readonly why?: string;
  readonly fields: readonly FieldResult[];
}
