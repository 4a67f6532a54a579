/** Private metrics: bounded numbers of devices that travel under the masks, so that only their mean is learned. */
import { checked, type Field, finite, list, record, text } from './fields.ts';

/** A number whose mean over its devices a task learns, and the range to which a value is clipped. */
export interface MetricRange {
  readonly name: string;
  readonly low: number;
  readonly high: number;
}

/** The share of clipped updates: every client measures it itself, if its task names it. */
export const CLIPPED: MetricRange = { name: 'clipped', low: 0, high: 1 };

export const MAX_METRICS = 16;
const MAX_NAME = 32;

/** The place of a value in its range, 0 .. scale, rounded to the nearest. A value that is no number counts as the low end. */
export function metricWord({ low, high }: MetricRange, value: number, scale: number): number {
  const inside = Number.isNaN(value) ? low : Math.min(high, Math.max(low, value));
  return Math.round(((inside - low) / (high - low)) * scale);
}

/** The mean value behind a sum of places. */
export function metricMean({ low, high }: MetricRange, sum: number, accepted: number, scale: number): number {
  return low + ((high - low) * sum) / (accepted * scale);
}

/** Returns a sentence that says why these metrics cannot be used, or undefined. */
function metricsProblem(metrics: readonly MetricRange[]): string | undefined {
  if (metrics.length > MAX_METRICS) return `a task names at most ${MAX_METRICS} metrics, got ${metrics.length}`;
  for (const [n, { name, low, high }] of metrics.entries()) {
    if (!/^[a-z][a-zA-Z0-9-]*$/.test(name) || name.length > MAX_NAME) {
      return `the name of a metric is a letter, then letters, digits and "-", at most ${MAX_NAME}; got "${name}"`;
    }
    if (metrics.findIndex((other) => other.name === name) !== n) return `two metrics are named "${name}"`;
    if (!(low < high)) return `the metric ${name} needs low < high, got ${low} and ${high}`;
    if (!Number.isFinite(high - low)) return `the range of the metric ${name} is too wide for a number`;
  }
  return undefined;
}

export const metricsField: Field<readonly MetricRange[]> = checked(
  list(MAX_METRICS, record<MetricRange>({ name: text(MAX_NAME), low: finite, high: finite })),
  metricsProblem,
);
