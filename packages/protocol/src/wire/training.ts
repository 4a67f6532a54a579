/** The lines of a policy about training: its settings, the metrics of devices, and the weight of old updates. */

import { DecodeError } from '@basa/masking';
import { checked, type Field, finite, list, oneOf, positive, record, text, u16 } from './fields.ts';

/**
 * The loss that is minimised. `own`: a function that the application knows, and the policy does not name. The wire has
 * the position in this list.
 */
export const TASK_LOSSES = ['own', 'softmaxCrossEntropy', 'mse', 'binaryCrossEntropy'] as const;
export type Loss = (typeof TASK_LOSSES)[number];

export interface TaskTraining {
  /** Whole passes over the device's examples. */
  readonly epochs: number;
  readonly batchSize: number;
  readonly learningRate: number;
  readonly loss: Loss;
}

export const DEFAULT_TRAINING: TaskTraining = {
  epochs: 1,
  batchSize: 10,
  learningRate: 0.1,
  loss: 'softmaxCrossEntropy',
};

const atLeastOne = checked(u16, (value) => (value >= 1 ? undefined : 'must be at least 1'));

export const trainingField: Field<TaskTraining> = record({
  epochs: atLeastOne,
  batchSize: atLeastOne,
  learningRate: positive,
  loss: oneOf(TASK_LOSSES),
});

/**
 * A private metric: a number whose mean over its devices a task learns, and the range to which a value is clipped. It travels under the
 * masks, so that only the mean is learned.
 */
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

/** S(tau): the reduced weight of an update that was trained on an older model (FedBuff, Nguyen et al. 2022). */
export type Staleness =
  | { readonly kind: 'constant' }
  /** (1 + tau)^-exponent; the exponent is 1/2 in FedBuff. */
  | { readonly kind: 'polynomial'; readonly exponent: number }
  /** 1 up to `grace`, then 1 / (slope * (tau - grace) + 1). */
  | { readonly kind: 'hinge'; readonly slope: number; readonly grace: number };

/**
 * FedBuff's weight (1 + tau)^-1/2 is 1/4 here. Without a special reason a task must not reduce weights further. Otherwise a server that
 * gives old versions to all users but one could make their updates vanish compared with that user's update.
 */
export const DEFAULT_MAX_STALENESS = 15;

/** S(tau) in (0, 1]: never zero at any age. */
export function stalenessWeight(staleness: Staleness, tau: number): number {
  return Math.max(weightOf(staleness, tau), Number.MIN_VALUE);
}

function weightOf(staleness: Staleness, tau: number): number {
  if (!(Number.isSafeInteger(tau) && tau >= 0)) throw new RangeError(`tau must be a non-negative integer, got ${tau}`);
  switch (staleness.kind) {
    case 'constant':
      return 1;
    case 'polynomial':
      // A root is the same number in every engine; a power may differ in its last bit (Node 20 and Chromium do).
      return staleness.exponent === 0.5 ? 1 / Math.sqrt(1 + tau) : (1 + tau) ** -staleness.exponent;
    case 'hinge':
      return tau <= staleness.grace ? 1 : 1 / (staleness.slope * (tau - staleness.grace) + 1);
  }
}

const CONSTANT = 0;
const POLYNOMIAL = 1;
const HINGE = 2;

const parameter: Field<number> = checked(finite, (value) =>
  value >= 0 && value <= 1e6 ? undefined : 'not in 0 .. 10^6',
);

/** A byte for the kind, then its parameters as doubles. */
export const stalenessField: Field<Staleness> = {
  type: 'staleness',
  write(writer, staleness) {
    if (staleness.kind === 'constant') writer.u8(CONSTANT);
    else if (staleness.kind === 'polynomial') parameter.write(writer.u8(POLYNOMIAL), staleness.exponent);
    else {
      parameter.write(writer.u8(HINGE), staleness.slope);
      parameter.write(writer, staleness.grace);
    }
  },
  read(reader, name) {
    switch (reader.u8(name)) {
      case CONSTANT:
        return { kind: 'constant' };
      case POLYNOMIAL:
        return { kind: 'polynomial', exponent: parameter.read(reader, `${name}.exponent`) };
      case HINGE:
        return {
          kind: 'hinge',
          slope: parameter.read(reader, `${name}.slope`),
          grace: parameter.read(reader, `${name}.grace`),
        };
      default:
        throw new DecodeError(name, 'no such staleness function');
    }
  },
};
