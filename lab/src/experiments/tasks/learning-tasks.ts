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

export type TaskName = 'mnist' | 'femnist' | 'cifar' | 'flsim' | 'slow-mnist' | 'slow-femnist' | 'slow-flsim';

const QUICK_TEST = 1000;
const FONT_TEST_USERS = 680;
const FONT_USERS = 3400;
/** Fewer writers have a slow tenth: every one of them is drawn. */
const SLOW_FONT_USERS = 1000;
/** The classes that only slow users have: the last two digits, or ships and trucks. */
const SLOW_CLASSES = [8, 9];
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
  return name.endsWith('femnist') && leaf === undefined ? fontShelf() : undefined;
}

export async function openTask(name: TaskName, seed: number, { leaf, shelf }: TaskSource = {}): Promise<LearnTask> {
  if (name === 'femnist') return leaf === undefined ? femnistTask(seed, shelf ?? fontShelf()) : leafTask(seed, leaf);
  if (name === 'slow-femnist') return slowFemnistTask(seed, shelf ?? fontShelf());
  const { train, test } = name.endsWith('mnist') ? await loadMnist() : await loadCifar10();
  const isMnist = name.endsWith('mnist');
  const isFlsim = name.endsWith('flsim');
  const users = isMnist ? 1000 : isFlsim ? 200 : 100;
  const { labels } = train;
  const isSlow = name.startsWith('slow-');
  const partition = isSlow ? partitionWithSlowTenth(train, users, seed) : partitionOf(train, users, seed);
  return {
    model: isMnist ? logisticRegression() : isFlsim ? flsimCnn() : fedmlCifarCnn(),
    users,
    batchSize: isMnist ? 10 : 20,
    learningRate: isFlsim ? 0.1 : 0.03,
    target: isMnist ? 0.8 : 0.5,
    evaluateEvery: isMnist ? 1 : 2,
    countOf: (user) => partition[user]?.length ?? 0,
    samplesOf: (user) => ({ dataset: train, indices: partition[user] ?? new Uint32Array() }),
    ...testParts(test, seed),
    ...(isSlow && { partTest: slowPart(allSamples(test)) }),
    about: `${train.name}: ${describePartition(partitionStatistics(partition, labels))}\n${plotPartition(partition)}`,
  };
}

type Labelled = Pick<Dataset, 'labels' | 'classes'>;

function partitionOf({ labels, classes }: Labelled, users: number, seed: number, minimum = 10): readonly Uint32Array[] {
  return partitionByDirichlet({ labels, classes, users, alpha: 0.5, seed, minimum }).users;
}

/** The first tenth of the users has all examples of the slow classes, and no others. */
function partitionWithSlowTenth(train: Labelled, users: number, seed: number): readonly Uint32Array[] {
  const all = Uint32Array.from(train.labels.keys());
  const isSlow = (n: number): boolean => SLOW_CLASSES.includes(train.labels[n] as number);
  const shares = [all.filter(isSlow), all.filter((n) => !isSlow(n))].map((own, n) => {
    const labels = Uint8Array.from(own, (example) => train.labels[example] as number);
    const count = n === 0 ? users / 10 : users - users / 10;
    // With two classes, some users have very few examples.
    const parts = partitionOf({ labels, classes: train.classes }, count, seed, n === 0 ? 1 : 10);
    return parts.map((part) => part.map((place) => own[place] as number));
  });
  return shares.flat();
}

function slowPart({ dataset, indices }: Samples): Samples {
  return { dataset, indices: indices.filter((n) => SLOW_CLASSES.includes(dataset.labels[n] as number)) };
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

/** The first tenth of the writers writes only the slow classes, the others write only the rest. The test has all classes. */
async function slowFemnistTask(seed: number, shelf: ExampleShelf): Promise<LearnTask> {
  const isOwn = (user: number, label: number): boolean => SLOW_CLASSES.includes(label) === user < SLOW_FONT_USERS / 10;
  const writers = await loadFontWriters(WRITERS, { isOwn });
  const test = writers.test(FONT_TEST_USERS, 10);
  return {
    ...FEMNIST_TRAINING,
    users: SLOW_FONT_USERS,
    countOf: (user) => writers.count(user),
    samplesOf: (user, most = Number.POSITIVE_INFINITY) => takeExamples(shelf, user, most, writers.user),
    ...testParts(test, seed),
    partTest: slowPart(allSamples(test)),
    about: `${writers.name}: ${SLOW_FONT_USERS} users, about 200 examples each`,
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
