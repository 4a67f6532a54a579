/**
 * The same run without security: the same devices, seeds, ages, sums and damped steps, with updates added as floats. It
 * differs from the secure run only in quantisation and its consequences.
 */

import type { ServerOperator, VersionState } from '@basa/client/operator';
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
import { Sums } from '@basa/protocol/one-shot';
import { type TaskPolicy, Training } from '@basa/protocol/policy';
import type { ModeChoice } from '../flags/task.ts';
import { type AcceptedNews, trainingSeed } from './fleet.ts';

export interface PlainTwin {
  readonly trainer: Trainer;
  readonly initial: Float32Array;
  readonly policy: TaskPolicy;
  readonly seed: number;
  readonly serverStep: ServerStepOptions;
  /** The sums of each version, in the order of the versions. Empty for a version that repeats the previous one. */
  readonly versions: readonly (readonly TwinSum[])[];
  samplesOf(device: number): Samples;
}

/** The parameters of the last version. */
export function runPlainTwin(twin: PlainTwin): Float32Array {
  const step = createServerStep(twin.serverStep);
  const made = [twin.initial];
  for (const sums of twin.versions) {
    const next = (made.at(-1) as Float32Array).slice();
    if (sums.length > 0) {
      const [mean, meanAge] =
        twin.policy.oneShot === undefined ? paperMean(twin, sums, made) : meanOf(twin, sums, made);
      step.applyInPlace(next, mean, meanAge);
    }
    made.push(next);
  }
  return made.at(-1) as Float32Array;
}

type Mean = readonly [mean: ReturnType<typeof combineMeans>, meanAge: number];

/** Paper mode: each update is weighed by its own age, and the sum is divided by K, so the step is damped already. */
function paperMean(twin: PlainTwin, sums: readonly TwinSum[], made: readonly Float32Array[]): Mean {
  const mean = new WeightedMean(twin.initial.length);
  for (const { age, delta } of sums.flat().map((news) => trained(twin, news, made)))
    mean.add(delta, Training.stalenessWeight(twin.policy.staleness, age));
  return [mean.take('count'), 0];
}

/** One-shot: the mean of a batch is weighed by its age as a whole. */
function meanOf(twin: PlainTwin, sums: readonly TwinSum[], made: readonly Float32Array[]): Mean {
  const { damping = DEFAULT_DAMPING } = twin.serverStep;
  const { combine } = Sums.versionRule(twin.policy);
  const means = sums.map((sum): WeighedMean & { readonly updates: number } => {
    const mean = new WeightedMean(twin.initial.length);
    const updates = sum.map((news) => trained(twin, news, made));
    for (const { delta } of updates) mean.add(delta);
    const age = total(updates.map((one) => one.age)) / sum.length;
    return { mean: mean.take('weights'), weight: sum.length, age, updates: sum.length };
  });
  const updates = total(means.map((one) => one.updates));
  const meanAge = total(means.map((one) => one.age * one.updates)) / updates;
  return [combineMeans(means, { combine, damping }), meanAge];
}

/** `made`: the versions so far. */
function trained(
  { trainer, policy: { training }, seed, samplesOf }: PlainTwin,
  { device, round, trainedOn }: TwinSum[number],
  made: readonly Float32Array[],
): { readonly delta: Float32Array; readonly age: number } {
  const start = made[trainedOn];
  if (start === undefined) throw new Error(`an update of version ${trainedOn}, which is not made yet`);
  const request = { start, samples: samplesOf(device), seed: trainingSeed(seed, device, round), ...training };
  return { delta: trainer.train(request).delta, age: made.length - 1 - trainedOn };
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

export interface DemoBooks {
  readonly task: string;
  readonly mode: ModeChoice;
  readonly versions: readonly VersionState[];
  /** All acceptances that the fleet reported. */
  readonly accepted: readonly AcceptedNews[];
}

/** The accepted updates of a sum. */
export type TwinSum = readonly AcceptedNews[];

/** Returns the sums of each version. The first version has no sums and is left out. */
export async function twinVersions(server: ServerOperator, books: DemoBooks): Promise<readonly (readonly TwinSum[])[]> {
  const sums = await sumsOf(server, books);
  return books.versions.slice(1).map(({ sums: names, accepted }) => {
    const found = names.map((ctx) => sums.get(ctx) ?? []);
    const known = found.flat().length;
    if (known === accepted) return found;
    throw new Error(`a version of ${accepted} updates, of which the fleet knows ${known}`);
  });
}

/** By the name of a buffer, which devices of paper mode know, or of a batch, of which the server tells. */
async function sumsOf(
  server: ServerOperator,
  { task, mode, accepted }: DemoBooks,
): Promise<ReadonlyMap<string, TwinSum>> {
  const sums = new Map<string, AcceptedNews[]>();
  for (const news of accepted) {
    const ctx = mode === 'paper' ? news.ctx : ((await server.shot(task, news.ctx)).ctx ?? '');
    sums.set(ctx, [...(sums.get(ctx) ?? []), news]);
  }
  return sums;
}
