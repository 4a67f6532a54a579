/** Trains on versions of several sums while some devices lie: the means are combined as a server combines them. */
import { combineMeans, createServerStep, initialParameters, randomStream, type Trainer } from '@basa/learning';
import type { LearnTask, TaskName } from '@basa/virtual-time';

export interface LiarRun {
  readonly task: TaskName;
  readonly seed: number;
  readonly combine: 'mean' | 'trimmed';
  /** Share of the users that lie, always the same ones. */
  readonly liars: number;
  readonly bufferSize: number;
  /** H. */
  readonly sumsPerVersion: number;
  readonly versions: number;
  readonly rate: number;
  readonly learningRate: number;
}

export interface LiarTrained {
  /** On the whole test set, at the end. */
  readonly wholeAccuracy: number;
  /** Share of the sums with at least one liar. */
  readonly spoiltSums: number;
}

/** A liar sends its update backwards, this many times as long. The quantiser clips every entry at 1, as in new tasks. */
const FACTOR = -100;
const CLIP = 1;

/** For every version, users are drawn again and train on the newest model, each at most once per version. */
export function trainWithLiars(run: LiarRun, task: LearnTask, trainer: Trainer): LiarTrained {
  const { seed, bufferSize, sumsPerVersion, versions, rate, combine, liars } = run;
  const parameters = initialParameters(task.model, seed);
  const step = createServerStep({ kind: 'fedbuff', rate });
  const lying = new Set(orderOf(task.users, seed, 'liars').subarray(0, Math.round(liars * task.users)));
  let spoilt = 0;
  for (let version = 0; version < versions; version++) {
    const users = orderOf(task.users, seed, 'version', version);
    const means = Array.from({ length: sumsPerVersion }, (_, n) => {
      const here = users.subarray(n * bufferSize, (n + 1) * bufferSize);
      if (here.some((user) => lying.has(user))) spoilt++;
      return { mean: meanOf(run, task, trainer, parameters, version, here, lying), weight: bufferSize, age: 0 };
    });
    step.applyInPlace(parameters, combineMeans(means, { combine, damping: 'none' }));
  }
  return {
    wholeAccuracy: trainer.evaluate(parameters, task.wholeTest).accuracy ?? Number.NaN,
    spoiltSums: spoilt / (versions * sumsPerVersion),
  };
}

function meanOf(
  { seed, learningRate }: LiarRun,
  task: LearnTask,
  trainer: Trainer,
  start: Float32Array,
  version: number,
  users: Uint32Array,
  lying: ReadonlySet<number>,
): Float64Array {
  const sum = new Float64Array(start.length);
  for (const user of users) {
    const samples = task.samplesOf(user);
    const steps = Math.ceil(samples.indices.length / task.batchSize);
    const batch = randomStream(seed, 'liar batch', version, user).u32();
    const { batchSize } = task;
    const { delta } = trainer.train({ start, samples, steps, batchSize, learningRate, seed: batch });
    const factor = lying.has(user) ? FACTOR : 1;
    for (let k = 0; k < sum.length; k++)
      sum[k] = (sum[k] as number) + Math.max(-CLIP, Math.min(CLIP, factor * (delta[k] as number))) / users.length;
  }
  return sum;
}

function orderOf(users: number, seed: number, ...name: readonly (string | number)[]): Uint32Array {
  return randomStream(seed, ...name).shuffle(Uint32Array.from({ length: users }, (_, user) => user));
}
