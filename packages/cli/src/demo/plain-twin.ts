/**
 * The same run without security: the same devices, seeds, staleness, buffers and damped steps, with updates added as
 * floats. It differs from the secure run only in quantisation and its consequences.
 */
import {
  combineMeans,
  createServerStep,
  DEFAULT_DAMPING,
  type Samples,
  type ServerStepOptions,
  type Trainer,
  type WeighedMean,
  WeightedMean,
} from '@basa/learning';
import { type Combination, type Staleness, stalenessWeight, type TaskTraining } from '@basa/protocol';
import { type AcceptedNews, trainingSeed } from './fleet-messages.ts';

export interface TwinBuffer {
  /** The version that the buffer was drawn with, and the accepted updates of its sum. */
  readonly version: number;
  readonly updates: readonly AcceptedNews[];
}

export interface PlainTwin {
  readonly trainer: Trainer;
  readonly initial: Float32Array;
  readonly training: TaskTraining;
  readonly seed: number;
  readonly staleness: Staleness;
  readonly serverStep: ServerStepOptions;
  /** The combination of the sums of a version. */
  readonly combine: Combination;
  /** The sums of each version, in the order of the versions. Empty for a version that repeats the previous one. */
  readonly versions: readonly (readonly TwinBuffer[])[];
  samplesOf(device: number): Samples;
}

/** The parameters of the last version. */
export function runPlainTwin(twin: PlainTwin): Float32Array {
  const { combine, serverStep } = twin;
  const { damping = DEFAULT_DAMPING } = serverStep;
  const step = createServerStep(serverStep);
  const made = [twin.initial];
  for (const sums of twin.versions) {
    const means = sums.map((sum) => meanOf(twin, sum, made));
    const next = (made.at(-1) as Float32Array).slice();
    const updates = total(means.map((one) => one.updates));
    const meanAge = total(means.map((one) => one.age * one.updates)) / updates;
    if (means.length > 0) step.applyInPlace(next, combineMeans(means, { combine, damping }), meanAge);
    made.push(next);
  }
  return made.at(-1) as Float32Array;
}

/** `made`: the versions so far. */
function meanOf(
  { trainer, training, seed, staleness, initial, samplesOf }: PlainTwin,
  { version, updates }: TwinBuffer,
  made: readonly Float32Array[],
): WeighedMean & { readonly updates: number } {
  const mean = new WeightedMean(initial.length);
  let ages = 0;
  for (const { device, round, trainedOn } of updates) {
    const start = made[trainedOn];
    if (start === undefined) throw new Error(`an update of version ${trainedOn}, which is not made yet`);
    const request = { start, samples: samplesOf(device), seed: trainingSeed(seed, device, round), ...training };
    ages += made.length - 1 - trainedOn;
    mean.add(trainer.train(request).delta, stalenessWeight(staleness, Math.max(0, version - trainedOn)));
  }
  const { weights: weight } = mean;
  return { mean: mean.take('weights'), weight, age: ages / updates.length, updates: updates.length };
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
