/** The learning tasks of the paper as data: model, users, hyper-parameters and target (fact sheet 4.2). */
import { loadCifar10, loadFontWriters, loadMnist } from '@basa/datasets';
import type { Dataset, Model, Samples } from '@basa/learning';
import {
  allSamples,
  describePartition,
  fedmlCifarCnn,
  femnistCnn,
  flsimCnn,
  logisticRegression,
  partitionByDirichlet,
  partitionStatistics,
  plotPartition,
  randomStream,
} from '@basa/learning';

export interface LearnTask {
  readonly model: Model;
  readonly users: number;
  readonly batchSize: number;
  readonly learningRate: number;
  readonly target: number;
  readonly evaluateEvery: number;
  /** The examples of a user; may be made when asked for. */
  samplesOf(user: number): Samples;
  /** A fixed part of the test set, and all of it. */
  readonly quickTest: Samples;
  readonly wholeTest: Samples;
  /** What the partition looks like. */
  readonly about: string;
}

export const TASK_NAMES = ['mnist', 'femnist', 'cifar', 'flsim'] as const;
export type TaskName = (typeof TASK_NAMES)[number];

const QUICK_TEST = 1000;
const FONT_TEST_USERS = 680;

export async function openTask(name: TaskName, seed: number): Promise<LearnTask> {
  if (name === 'femnist') return femnistTask(seed);
  const { train, test } = name === 'mnist' ? await loadMnist() : await loadCifar10();
  const users = name === 'mnist' ? 1000 : name === 'cifar' ? 100 : 200;
  const { labels, classes } = train;
  const partition = partitionByDirichlet({ labels, classes, users, alpha: 0.5, seed });
  const models = { mnist: logisticRegression, cifar: fedmlCifarCnn, flsim: flsimCnn };
  const isMnist = name === 'mnist';
  return {
    model: models[name](),
    users,
    batchSize: isMnist ? 10 : 20,
    learningRate: name === 'flsim' ? 0.1 : 0.03,
    target: isMnist ? 0.8 : 0.5,
    evaluateEvery: isMnist ? 1 : 5,
    samplesOf: (user) => ({ dataset: train, indices: partition.users[user] ?? new Uint32Array() }),
    ...testParts(test, seed),
    about: `${train.name}: ${describePartition(partitionStatistics(partition.users, labels))}\n${plotPartition(partition.users)}`,
  };
}

async function femnistTask(seed: number): Promise<LearnTask> {
  const writers = await loadFontWriters(seed);
  return {
    model: femnistCnn(),
    users: 3400,
    batchSize: 20,
    learningRate: 0.05,
    target: 0.75,
    evaluateEvery: 5,
    samplesOf: (user) => allSamples(writers.user(user)),
    ...testParts(writers.test(FONT_TEST_USERS, 10), seed),
    about: `${writers.name}: 3400 users, about 200 examples each`,
  };
}

function testParts(test: Dataset, seed: number): { quickTest: Samples; wholeTest: Samples } {
  const wholeTest = allSamples(test);
  const order = randomStream(seed, 'quick test').shuffle(Uint32Array.from(wholeTest.indices));
  return { wholeTest, quickTest: { dataset: test, indices: order.subarray(0, QUICK_TEST) } };
}
