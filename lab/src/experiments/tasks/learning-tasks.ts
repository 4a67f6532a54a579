/** The learning tasks of the paper (section 4.1, appendix B) as data: model, users, hyper-parameters and target. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadMnist } from '@basa/cli/internal/data/mnist.ts';
import {
  allSamples,
  type Dataset,
  describePartition,
  fedmlCifarCnn,
  femnistCnn,
  flsimCnn,
  logisticRegression,
  partitionByDirichlet,
  partitionStatistics,
  plotPartition,
  randomStream,
  type Samples,
} from '@basa/learning';
import type { LearnTask } from '@basa/simulator/virtual-time';
import { loadCifar10 } from '../../datasets/cifar10.ts';
import { loadFontWriters } from '../../datasets/font-writers.ts';
import { loadLeafFemnist } from '../../datasets/leaf.ts';
import { createShelf, type ExampleShelf, takeExamples } from './example-shelf.ts';

export type TaskName = 'mnist' | 'femnist' | 'cifar' | 'flsim';

const QUICK_TEST = 1000;
const FONT_TEST_USERS = 680;
const FONT_USERS = 3400;
const FEMNIST_TRAINING = { model: femnistCnn(), batchSize: 20, learningRate: 0.05, target: 0.75, evaluateEvery: 2 };
/** This many examples of each user are drawn once: 270 MB for all. */
const MAX_KEPT = 100;

export interface TaskSource {
  /** A folder with LEAF's FEMNIST: real writers instead of the stand-in. */
  readonly leaf?: string | undefined;
  /** The shelf on which the stand-in keeps its examples; its own by default. */
  readonly shelf?: ExampleShelf | undefined;
}

/** A shelf that threads share, if the task draws its examples. */
export function shelfFor(name: TaskName, leaf: string | undefined): ExampleShelf | undefined {
  return name === 'femnist' && leaf === undefined ? fontShelf() : undefined;
}

export async function openTask(name: TaskName, seed: number, { leaf, shelf }: TaskSource = {}): Promise<LearnTask> {
  if (name === 'femnist') return leaf === undefined ? femnistTask(seed, shelf ?? fontShelf()) : leafTask(seed, leaf);
  const { train, test } = name === 'mnist' ? await loadMnist() : await loadCifar10();
  const users = name === 'mnist' ? 1000 : name === 'flsim' ? 200 : 100;
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
    evaluateEvery: isMnist ? 1 : 2,
    countOf: (user) => partition.users[user]?.length ?? 0,
    samplesOf: (user) => ({ dataset: train, indices: partition.users[user] ?? new Uint32Array() }),
    ...testParts(test, seed),
    about: `${train.name}: ${describePartition(partitionStatistics(partition.users, labels))}\n${plotPartition(partition.users)}`,
  };
}

function fontShelf(): ExampleShelf {
  const { height, width } = femnistCnn().input;
  return createShelf(FONT_USERS, MAX_KEPT, height * width);
}

/** The writers are the same for every seed, as FEMNIST's are. */
const WRITERS = 1;

async function femnistTask(seed: number, shelf: ExampleShelf): Promise<LearnTask> {
  const writers = await loadFontWriters(WRITERS);
  return {
    ...FEMNIST_TRAINING,
    users: FONT_USERS,
    countOf: (user) => writers.count(user),
    samplesOf: (user, most = Number.POSITIVE_INFINITY) => takeExamples(shelf, user, most, writers.user),
    ...testParts(writers.test(FONT_TEST_USERS, 10), seed),
    about: `${writers.name}: ${FONT_USERS} users, about 200 examples each`,
  };
}

/** A tenth of the writers is for the test: no user trains on them. */
const LEAF_TEST_SHARE = 0.1;

async function leafTask(seed: number, folder: string): Promise<LearnTask> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  if (files.length === 0)
    throw new RangeError(`${folder} has no JSON files; LEAF writes them into data/femnist/data/train`);
  const { dataset, users } = await loadLeafFemnist(files.sort().map((file) => join(folder, file)));
  const order = randomStream(seed, 'leaf test').shuffle(Uint32Array.from(users.keys()));
  const testUsers = Math.max(1, Math.floor(LEAF_TEST_SHARE * users.length));
  const part = (numbers: Uint32Array): readonly Uint32Array[] =>
    Array.from(numbers, (user) => users[user] ?? new Uint32Array());
  const training = part(order.subarray(testUsers).sort());
  const test = Uint32Array.from(part(order.subarray(0, testUsers)).flatMap((indices) => [...indices]));
  return {
    ...FEMNIST_TRAINING,
    users: training.length,
    countOf: (user) => training[user]?.length ?? 0,
    samplesOf: (user) => ({ dataset, indices: training[user] ?? new Uint32Array() }),
    ...quickPart({ dataset, indices: test }, seed),
    about: `FEMNIST of LEAF in ${folder}: ${training.length} writers train, ${testUsers} are for the test`,
  };
}

function testParts(test: Dataset, seed: number): { quickTest: Samples; wholeTest: Samples } {
  return quickPart(allSamples(test), seed);
}

function quickPart(wholeTest: Samples, seed: number): { quickTest: Samples; wholeTest: Samples } {
  const order = randomStream(seed, 'quick test').shuffle(Uint32Array.from(wholeTest.indices));
  return { wholeTest, quickTest: { dataset: wholeTest.dataset, indices: order.subarray(0, QUICK_TEST) } };
}
