/** The Python trainer is compared with ours: the same orders give the same curves, or the same in distribution if there is dropout. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  allSamples,
  conv2d,
  createKernelBackend,
  createReferenceBackend,
  createTrainer,
  type Dataset,
  defineModel,
  dense,
  dropout,
  flatten,
  groupNorm,
  type Layer,
  maxPool,
  randomStream,
  relu,
} from '@basa/learning';
import { FIELD, quantize } from '@basa/masking';
import { createTrainingKernel } from '@basa/runtime/node';
import { type LearnTask, type Trained, trainOrder } from '@basa/simulator/virtual-time';
import { afterAll, describe, expect, it } from 'vitest';
import type { NamedJob } from '../../src/experiments/training/train-plan.ts';
import { writeOrders } from '../../src/experiments/training/write-orders.ts';

const PYTHON = process.env['BASA_PYTHON'] ?? 'python3';
const PROGRAM = join(import.meta.dirname, '../../gpu');
const hasTorch = spawnSync(PYTHON, ['-c', 'import torch, numpy']).status === 0;
const title = hasTorch
  ? 'the trainer in Python'
  : `the trainer in Python: skipped, because ${PYTHON} has no PyTorch; name one that has in BASA_PYTHON`;

const root = mkdtempSync(join(tmpdir(), 'basa-gpu-'));
afterAll(() => rmSync(root, { recursive: true }));

const SHAPE = { height: 8, width: 8, channels: 1 };
const CLASSES = 4;
const USERS = 12;

/** Four patterns under noise. */
function drawn(count: number, name: string): Dataset {
  const random = randomStream(1, name);
  const patterns = Array.from({ length: CLASSES }, (_, c) => {
    const own = randomStream(2, 'pattern', c);
    return Array.from({ length: 64 }, () => own.unit());
  });
  const labels = Uint8Array.from({ length: count }, () => random.below(CLASSES));
  const inputs = new Uint8Array(64 * count).map((_, n) => {
    const pattern = patterns[labels[Math.floor(n / 64)] as number] as number[];
    return 255 * Math.min(1, 0.5 * (pattern[n % 64] as number) + 0.5 * random.unit());
  });
  return { name, shape: SHAPE, classes: CLASSES, inputs, labels, normal: { mean: [0.4], deviation: [0.3] } };
}

function taskOf(layers: readonly Layer[], learningRate = 0.1): LearnTask {
  const [train, test] = [drawn(240, 'train'), drawn(300, 'test')];
  // Unequal users, none with whole batches alone.
  const bounds = Array.from({ length: USERS + 1 }, (_, user) => Math.round(240 * (user / USERS) ** 1.3));
  const share = (user: number): Uint32Array =>
    allSamples(train).indices.subarray(bounds[user] as number, bounds[user + 1] as number);
  return {
    model: defineModel('tiny', SHAPE, layers),
    users: USERS,
    batchSize: 5,
    learningRate,
    target: 2,
    evaluateEvery: 1,
    countOf: (user) => share(user).length,
    samplesOf: (user) => ({ dataset: train, indices: share(user) }),
    quickTest: { dataset: test, indices: allSamples(test).indices.subarray(100) },
    wholeTest: allSamples(test),
    about: '',
  };
}

/** Ten versions of four updates each, some of them two versions old and of less weight. */
function jobOf(name: string, seed: number, level: number | undefined): NamedJob {
  const order = Array.from({ length: 10 }, (_, n) =>
    Array.from({ length: 4 }, (_, k) => {
      const age = Math.min(n, k % 3);
      return { user: (5 * n + 3 * k + 1) % USERS, trip: 4 * n + k, trainedOn: n - age, weight: 1 / Math.sqrt(1 + age) };
    }),
  );
  const step = { rate: 1, momentum: seed % 2 === 0 ? 0.5 : 0, damping: 0.5 } as const;
  const job = { order, seed, step, level, target: 2, evaluations: 3, partiesEvery: 1000 };
  const rest = { task: 'mnist', leaf: undefined, learningRate: undefined, protocols: [], parties: [] } as const;
  return { name, updates: 40, rank: 0, job: { ...job, ...rest } };
}

async function trainBoth(
  task: LearnTask,
  jobs: readonly NamedJob[],
): Promise<readonly (readonly [Trained, Trained])[]> {
  const folder = mkdtempSync(join(root, 'orders-'));
  await writeOrders(jobs, { folder, store: { get: () => undefined }, open: async () => task });
  const store = join(folder, 'trained.jsonl');
  execFileSync(PYTHON, [
    join(PROGRAM, 'train.py'),
    folder,
    store,
    '--device',
    'cpu',
    '--workers',
    '1',
    '--stack',
    '16',
  ]);
  const lines = readFileSync(store, 'utf8').trim().split('\n');
  const found = new Map(
    lines
      .map((line) => JSON.parse(line) as { name: string; trained: Trained })
      .map(({ name, trained }) => [name, trained]),
  );
  const kernel = createTrainingKernel();
  const engine = kernel ? createKernelBackend(task.model, kernel) : createReferenceBackend(task.model);
  const trainer = createTrainer(engine);
  return Promise.all(
    jobs.map(async ({ name, job }) => {
      const ours = await trainOrder({ ...job, parties: () => [] }, task, trainer);
      return [ours, found.get(name) as Trained] as const;
    }),
  );
}

/** No two accuracies differ by more than one or two of the 200 examples: floats are added in another order. */
function expectSameCurve([ours, theirs]: readonly [Trained, Trained]): void {
  expect(theirs.accuracy.map(([version]) => version)).toEqual(ours.accuracy.map(([version]) => version));
  for (const [n, [, accuracy]] of ours.accuracy.entries())
    expect(Math.abs((theirs.accuracy[n]?.[1] ?? 0) - accuracy)).toBeLessThan(2.5 / 200);
  expect([theirs.samples, theirs.clipped]).toEqual([ours.samples, ours.clipped]);
}

const SMALL_NETWORK = [
  conv2d(8, 3, { padding: 1, name: 'conv1' }),
  groupNorm(4, { name: 'norm' }),
  relu,
  maxPool(3, { stride: 2, padding: 1 }),
  conv2d(8, 3, { name: 'conv2' }),
  groupNorm(4, { name: 'norm' }),
  relu,
  flatten,
];

describe.skipIf(!hasTorch)(title, () => {
  it('logistic regression has the same curve, in floats and quantised, with momentum and without', async () => {
    const task = taskOf([flatten, dense(CLASSES, { name: 'linear' })]);
    const jobs = [1, 2].flatMap((seed) => [jobOf(`a${seed}`, seed, undefined), jobOf(`b${seed}`, seed, 2 ** 16)]);
    for (const pair of await trainBoth(task, jobs)) expectSameCurve(pair);
  });

  it('a small network without dropout has the same curve', async () => {
    // Small steps: with large ones a network soon doubles the difference of two roundings.
    const task = taskOf([...SMALL_NETWORK, dense(CLASSES, { name: 'out' })], 0.02);
    for (const pair of await trainBoth(task, [jobOf('c1', 1, undefined), jobOf('c2', 2, undefined)]))
      expectSameCurve(pair);
  });

  it('a small network with dropout learns the same in distribution', async () => {
    const task = taskOf([...SMALL_NETWORK, dropout(0.4), dense(CLASSES, { name: 'out' })]);
    const pairs = await trainBoth(
      task,
      Array.from({ length: 12 }, (_, n) => jobOf(`d${n}`, n + 1, 2 ** 16)),
    );
    const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    const differences = pairs.map(([ours, theirs]) => theirs.wholeAccuracy - ours.wholeAccuracy);
    const middle = mean(differences);
    const error = Math.sqrt(mean(differences.map((one) => (one - middle) ** 2)) / (differences.length - 1));
    expect(Math.abs(middle)).toBeLessThan(4 * error);
    // It learns at all, and dropout does draw.
    expect(mean(pairs.map(([, theirs]) => theirs.wholeAccuracy))).toBeGreaterThan(0.5);
    expect(error).toBeGreaterThan(0);
  });

  it('quantises to the same integers from the same random words', () => {
    const random = randomStream(3, 'values');
    const values = Float32Array.from({ length: 500 }, () => 8 * random.normal());
    const words = Uint32Array.from({ length: 500 }, () => random.u32());
    const quantizer = { level: 2 ** 16, clip: 16, modulus: FIELD };
    const ours = quantize(values, quantizer, (target) => target.set(words.subarray(0, target.length)), 0.7);
    const file = join(root, 'values.json');
    writeFileSync(file, JSON.stringify({ values: Array.from(values), words: Array.from(words) }));
    const program = `
import json, sys, torch
sys.path.insert(0, ${JSON.stringify(PROGRAM)})
from quantiser import quantise
given = json.load(open(${JSON.stringify(file)}))
values, words = (torch.tensor([given[name]], dtype=torch.float64) for name in ("values", "words"))
residues, clipped = quantise(values.float(), torch.tensor([0.7], dtype=torch.float64), words, 2**16)
print(json.dumps({"vector": residues[0].tolist(), "clipped": int(clipped)}))`;
    const theirs = JSON.parse(execFileSync(PYTHON, ['-c', program]).toString()) as {
      vector: number[];
      clipped: number;
    };
    expect(ours.clipped).toBeGreaterThan(0);
    expect(theirs).toEqual({ vector: Array.from(ours.vector), clipped: ours.clipped });
  });
});
