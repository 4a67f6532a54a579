/**
 * The same run without security: the same devices, seeds, staleness, buffers and damped steps, with updates added as floats.
 * What differs from the secure run is quantisation alone, and what follows from it.
 */
import { createServerStep, type Samples, type ServerStepOptions, type Trainer, WeightedMean } from '@basa/learning';
import { type Staleness, stalenessWeight, type TaskTraining } from '@basa/protocol';
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
  /** Buffers in the order of the versions they made. */
  readonly buffers: readonly TwinBuffer[];
  samplesOf(device: number): Samples;
}

/** The parameters after the last buffer. */
export function runPlainTwin(twin: PlainTwin): Float32Array {
  const { trainer, training, seed, staleness } = twin;
  const step = createServerStep(twin.serverStep);
  const versions = [twin.initial];
  for (const { version, updates } of twin.buffers) {
    const mean = new WeightedMean(twin.initial.length);
    let ages = 0;
    for (const { device, round, trainedOn } of updates) {
      const start = versions[trainedOn];
      if (start === undefined) throw new Error(`an update of version ${trainedOn}, which is not made yet`);
      const request = { start, samples: twin.samplesOf(device), seed: trainingSeed(seed, device, round), ...training };
      ages += versions.length - 1 - trainedOn;
      mean.add(trainer.train(request).delta, stalenessWeight(staleness, Math.max(0, version - trainedOn)));
    }
    const next = (versions.at(-1) as Float32Array).slice();
    if (updates.length > 0) step.applyInPlace(next, mean.take('weights'), ages / updates.length);
    versions.push(next);
  }
  return versions.at(-1) as Float32Array;
}
