/** `npm run lab -- learn mnist|femnist|cifar|flsim`: plain FedBuff until the paper's target; says buffers, samples, time. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { Evaluation, TrainResult } from '@basa/learning';
import type { TaskName } from '@basa/virtual-time';
import { readCheckpoint, writeCheckpoint } from './learn-checkpoint.ts';
import type { LearnAnswer, LearnRequest } from './learn-worker.ts';

const USAGE = `npm run lab -- learn <task> [options]

  mnist      logistic regression, 1000 users, to 80 %
  femnist    CNN on the synthetic stand-in, 3400 users, to 75 %
  cifar      FedML's CNN, 100 users, to 50 %
  flsim      FLSim's CNN on CIFAR-10, 200 users, to 50 %

  --buffers <n>        give up after n buffers (400)
  --samples <n>        examples of a user's trip at most (all it has)
  --rate <x>           learning rate of users instead of the task's
  --server-rate <x>    of the server (1)
  --damping <p>        an update of age a counts (1 + a)^-p of a fresh one; 0 for none (0.5)
  --concurrency <n>    users that train at a time (32)
  --beta <x>           mean delay of a trip, in units of its training (3)
  --leaf <folder>      LEAF's FEMNIST instead of the stand-in
  --workers <n>        worker threads (one per core)
  --seed <n>           (1)
  --checkpoint <file>  go on from this file where it is there, and bring it up to date with every evaluation`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    buffers: { type: 'string', default: '400' },
    samples: { type: 'string', default: 'Infinity' },
    rate: { type: 'string' },
    'server-rate': { type: 'string', default: '1' },
    damping: { type: 'string', default: '0.5' },
    concurrency: { type: 'string', default: '32' },
    beta: { type: 'string', default: '3' },
    leaf: { type: 'string' },
    workers: { type: 'string', default: String(availableParallelism()) },
    seed: { type: 'string', default: '1' },
    checkpoint: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit();
}

// Loaded after the help, which would take seconds otherwise.
const { openTask, TASK_NAMES } = await import('@basa/virtual-time');
const { agedWeight, fedBuffStep, initialParameters, randomStream, runPlainFedBuff } = await import('@basa/learning');
const { createWorkerPool, workerModule } = await import('@basa/runtime/node');

const name = TASK_NAMES.find((candidate) => candidate === positionals[0]);
if (name === undefined) {
  console.log(USAGE);
  process.exitCode = 2;
} else {
  await learn(name, Number(values.seed));
}

async function learn(taskName: TaskName, seed: number): Promise<void> {
  const [serverRate, damping] = [Number(values['server-rate']), Number(values.damping)];
  const [concurrency, beta] = [Number(values.concurrency), Number(values.beta)];
  const run = [
    taskName,
    seed,
    values.samples,
    values.rate ?? 'own rate',
    ...[serverRate, damping, concurrency, beta],
    values.leaf ?? '',
  ].join(' ');
  const earlier = values.checkpoint === undefined ? undefined : readCheckpoint(values.checkpoint, run);
  const task = await openTask(taskName, seed, { leaf: values.leaf });
  console.log(task.about);
  if (earlier !== undefined) console.log(`going on from buffer ${earlier.at.version}`);
  const pool = createWorkerPool<LearnRequest, LearnAnswer>({
    ...workerModule(import.meta.url, './learn-worker'),
    size: Number(values.workers),
    workerData: {
      name: taskName,
      seed,
      maxSamples: Number(values.samples),
      leaf: values.leaf,
      learningRate: values.rate === undefined ? undefined : Number(values.rate),
    },
  });
  const began = performance.now() - (earlier?.tookMs ?? 0);
  const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`;
  const evaluate = async (parameters: Float32Array, whole: boolean): Promise<Evaluation> =>
    (await pool.run({ kind: 'evaluate', parameters, whole })) as Evaluation;
  const { parameters, metrics } = await runPlainFedBuff({
    start: initialParameters(task.model, seed),
    users: task.users,
    concurrency,
    bufferSize: 10,
    versions: Number(values.buffers),
    weightOf: (tau) => agedWeight(tau, damping),
    step: fedBuffStep(serverRate),
    delay: beta,
    seed: randomStream(seed, taskName).u32(),
    train: async ({ user, start, seed: tripSeed }) =>
      (await pool.run({ kind: 'train', user, start, seed: tripSeed })) as TrainResult,
    evaluate: (current) => evaluate(current, false),
    evaluateEvery: task.evaluateEvery,
    target: task.target,
    ...(earlier === undefined ? {} : { resume: earlier.at }),
    onVersion: (version, evaluation, { metrics, checkpoint }) => {
      if (evaluation === undefined) return;
      if (values.checkpoint !== undefined) {
        writeCheckpoint(values.checkpoint, { run, tookMs: performance.now() - began, at: checkpoint() });
      }
      const seen = metrics.trips.reduce((sum, { samples }) => sum + samples, 0);
      const { accuracy, loss } = evaluation;
      console.log(`buffer ${version}: ${percent(accuracy)}, loss ${loss.toFixed(3)}, ${seen} samples, ${seconds()}`);
    },
  });
  const whole = await evaluate(parameters, true);
  const { trips, samples, meanStaleness, maxStaleness } = metrics.summary();
  const reached = metrics.reached(task.target);
  await pool.close();
  console.log(
    [
      reached
        ? `reached ${percent(task.target)} after ${reached.version} buffers`
        : `did not reach ${percent(task.target)}`,
      `whole test set ${percent(whole.accuracy)}, loss ${whole.loss.toFixed(3)}`,
      `${trips} trips of ${metrics.perClient().length} users, ${samples} samples, ${seconds()}, ${pool.size} workers`,
      `staleness mean ${meanStaleness.toFixed(2)}, max ${maxStaleness}`,
    ].join('\n'),
  );
  if (reached === undefined) process.exitCode = 1;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
