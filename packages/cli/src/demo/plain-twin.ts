/**
 * The same run without security: the same devices, seeds, ages, sums and damped steps, with updates added as floats. It
 * differs from the secure run only in quantisation and its consequences.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerOperator, VersionState } from '@basa/client/operator';
import * as learning from '@basa/learning';
import { Sums } from '@basa/protocol/one-shot';
import { type TaskPolicy, Training } from '@basa/protocol/policy';
import type { ModeChoice } from '../flags/task.ts';
import type { AcceptedNews, Fleet } from './fleet.ts';

/** The seed of a device's training in one of its rounds. */
export function trainingSeed(seed: number, device: number, round: number): number {
  return (seed * 1_000_003 + device * 10_007 + round) % 2 ** 31;
}

export interface PlainTwin {
  readonly trainer: learning.Trainer;
  readonly initial: Float32Array;
  readonly policy: TaskPolicy;
  readonly seed: number;
  readonly serverStep: learning.ServerStepOptions;
  /** The sums of each version, in the order of the versions. Empty for a version that repeats the previous one. */
  readonly versions: readonly (readonly TwinSum[])[];
  samplesOf(device: number): learning.Samples;
}

/** The accepted updates of a sum. */
type TwinSum = readonly AcceptedNews[];

/** The parameters of the last version. */
export function runPlainTwin(twin: PlainTwin): Float32Array {
  const step = learning.createServerStep(twin.serverStep);
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

type Mean = readonly [mean: ReturnType<typeof learning.combineMeans>, meanAge: number];

/** Paper mode: each update is weighed by its own age, and the sum is divided by K, so the step is damped already. */
function paperMean(twin: PlainTwin, sums: readonly TwinSum[], made: readonly Float32Array[]): Mean {
  const mean = new learning.WeightedMean(twin.initial.length);
  for (const { age, delta } of sums.flat().map((news) => trained(twin, news, made)))
    mean.add(delta, Training.stalenessWeight(twin.policy.staleness, age));
  return [mean.take('count'), 0];
}

/** One-shot: the mean of a batch is weighed by its age as a whole. */
function meanOf(twin: PlainTwin, sums: readonly TwinSum[], made: readonly Float32Array[]): Mean {
  const { damping = learning.DEFAULT_DAMPING } = twin.serverStep;
  const { combine } = Sums.versionRule(twin.policy);
  const means = sums.map((sum) => {
    const mean = new learning.WeightedMean(twin.initial.length);
    let ages = 0;
    for (const { age, delta } of sum.map((news) => trained(twin, news, made))) {
      mean.add(delta);
      ages += age;
    }
    return { mean: mean.take('weights'), weight: sum.length, age: ages / sum.length };
  });
  const ages = means.reduce((total, { age, weight }) => total + age * weight, 0);
  return [learning.combineMeans(means, { combine, damping }), ages / sums.flat().length];
}

/** `made`: the versions so far. */
function trained(
  { trainer, policy: { training }, seed, samplesOf }: PlainTwin,
  { device, round, trainedOn }: AcceptedNews,
  made: readonly Float32Array[],
): { readonly delta: Float32Array; readonly age: number } {
  const start = made[trainedOn];
  if (start === undefined) throw new Error(`an update of version ${trainedOn}, which is not made yet`);
  const request = { start, samples: samplesOf(device), seed: trainingSeed(seed, device, round), ...training };
  return { delta: trainer.train(request).delta, age: made.length - 1 - trainedOn };
}

const LOOK_MS = 250;
const LOOKS = 120;

/**
 * Returns the sums of each version. The first version has no sums and is left out. The fleet is still running: its devices hear after the
 * server that an update was accepted.
 */
export async function twinVersions(
  server: ServerOperator,
  { mode, versions }: { readonly mode: ModeChoice; readonly versions: readonly VersionState[] },
  fleet: Fleet,
  signal: AbortSignal,
): Promise<PlainTwin['versions']> {
  for (let looks = 1; ; looks++) {
    fleet.check();
    // By the name of a buffer, which devices of paper mode know, or of a batch, of which the server tells.
    const sums = new Map<string, AcceptedNews[]>();
    for (const news of fleet.tally().accepted) {
      const ctx = mode === 'paper' ? news.ctx : ((await server.shot(fleet.work.task, news.ctx)).ctx ?? '');
      sums.set(ctx, [...(sums.get(ctx) ?? []), news]);
    }
    const found = versions.slice(1).map(({ sums: names }) => names.map((ctx) => sums.get(ctx) ?? []));
    const missing = versions.slice(1).find(({ accepted }, n) => found[n]?.flat().length !== accepted);
    if (missing === undefined) return found;
    if (looks === LOOKS) throw new Error(`the fleet does not know all ${missing.accepted} updates of a version`);
    await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
