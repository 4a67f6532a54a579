/** Writes the required trainings as files for lab/gpu/train.py: orders, networks, the examples of each user, and the examples in pieces. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Dataset, Model, Samples } from '@basa/learning';
import type { LearnTask } from '@basa/simulator/virtual-time';
import { openTask } from '../tasks/learning-tasks.ts';
import { GzipPieces } from './gzip-pieces.ts';
import type { NamedJob } from './train-plan.ts';
import type { TrainJob } from './train-worker.ts';
import type { TrainedStore } from './trained-store.ts';

export interface OrdersTarget {
  readonly folder: string;
  /** Orders that are finished in this folder are not written again. */
  readonly store: Pick<TrainedStore, 'get'>;
  /** The source of the tasks; the paper's by default. */
  readonly open?: typeof openTask;
}

/** Returns how many orders were written. Examples that the folder has already stay as they are. */
export async function writeOrders(jobs: readonly NamedJob[], target: OrdersTarget): Promise<number> {
  const { folder, store, open: openOne = openTask } = target;
  const open = jobs.filter(({ name }) => store.get(name) === undefined);
  mkdirSync(folder, { recursive: true });
  const lines = new GzipPieces(() => join(folder, 'orders.jsonl.gz'), Number.POSITIVE_INFINITY);
  const tasks = new Map<string, LearnTask>();
  for (const { name, job } of open) {
    const key = `${job.task} ${job.seed}`;
    let task = tasks.get(key);
    if (task === undefined) {
      task = await openOne(job.task, job.seed, { leaf: job.leaf });
      writeTask(folder, job, task);
      tasks.set(key, task);
    }
    lines.write(Buffer.from(`${JSON.stringify(orderOf(name, job, task))}\n`));
  }
  lines.end();
  return open.length;
}

/** An update is its user, its trip, the version it starts from and its weight. */
function orderOf(name: string, job: TrainJob, task: LearnTask): object {
  const { order, seed, step, level, target, evaluations, isWhole, protocols } = job;
  return {
    name,
    task: job.task,
    about: protocols.join(', ') || 'no SA',
    seed,
    learningRate: job.learningRate ?? task.learningRate,
    step,
    level,
    target,
    evaluations,
    ...(isWhole && { isWhole }),
    order: order.map((updates) => updates.map(({ user, trip, trainedOn, weight }) => [user, trip, trainedOn, weight])),
  };
}

function writeTask(folder: string, { task: name, seed }: TrainJob, task: LearnTask): void {
  const { users, quickTest, wholeTest, partTest, countOf, samplesOf, batchSize, evaluateEvery, model } = task;
  const all = Array.from({ length: users }, (_, user) => user);
  const counts = all.map(countOf);
  const train = samplesOf(0, 0).dataset;
  const isShared = samplesOf(1, 0).dataset === train;
  const trained = isShared ? train.labels.length : counts.reduce((sum, count) => sum + count, 0);
  const isApart = wholeTest.dataset !== train;
  const placesOf = ({ indices }: Samples): number[] => Array.from(indices, (n) => (isApart ? trained : 0) + n);
  writeJson(folder, `${name}.${seed}.users`, {
    counts,
    ...(isShared && { indices: all.flatMap((user) => Array.from(samplesOf(user).indices)) }),
    quickTest: placesOf(quickTest),
    wholeTest: placesOf(wholeTest),
    ...(partTest !== undefined && { partTest: placesOf(partTest) }),
  });
  const data = slugOf(train.name);
  writeJson(folder, `${name}.task`, { data, batchSize, evaluateEvery, model: networkOf(model) });
  writeData(folder, data, function* () {
    if (isShared) yield train;
    else for (const user of all) yield samplesOf(user).dataset;
    if (isApart) yield wholeTest.dataset;
  });
}

/** All inputs, then all labels, as bytes; what describes them comes last, so that half a dataset is written again. */
function writeData(folder: string, name: string, parts: () => Iterable<Dataset>): void {
  if (existsSync(fileOf(folder, `${name}.data`))) return;
  const pieces = new GzipPieces((n) => join(folder, `${name}.data.${String(n).padStart(3, '0')}.gz`));
  const labels: Uint8Array[] = [];
  let first: Dataset | undefined;
  for (const part of parts()) {
    first ??= part;
    const { inputs } = part;
    pieces.write(new Uint8Array(inputs.buffer, inputs.byteOffset, inputs.byteLength));
    labels.push(Uint8Array.from(part.labels));
  }
  if (first === undefined) throw new RangeError(`${name} has no examples`);
  pieces.write(Buffer.concat(labels));
  const { shape, normal } = first;
  const { height, width, channels } = shape;
  writeJson(folder, `${name}.data`, {
    pieces: pieces.end(),
    count: labels.reduce((sum, { length }) => sum + length, 0),
    isBytes: first.inputs instanceof Uint8Array,
    shape: [height, width, channels],
    mean: Array.from({ length: channels }, (_, channel) => normal?.mean[channel] ?? 0),
    deviation: Array.from({ length: channels }, (_, channel) => normal?.deviation[channel] ?? 1),
  });
}

/** Layers with the names of their tensors and their offsets in the flat vector. */
function networkOf({ layers, manifest, dimension }: Model): object {
  const norms = new Set(
    layers.flatMap(({ layer, tensors }) =>
      layer.kind === 'groupNorm' && tensors !== undefined ? [tensors.weight.name, tensors.bias.name] : [],
    ),
  );
  return {
    dimension,
    layers: layers.map(({ layer, tensors }) => ({
      ...layer,
      ...(tensors && { weight: tensors.weight.name, bias: tensors.bias.name }),
    })),
    tensors: manifest.map((tensor) => ({ ...tensor, isNorm: norms.has(tensor.name) })),
  };
}

function slugOf(name: string): string {
  return name
    .replace(/\(.*/, '')
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
}

function fileOf(folder: string, name: string): string {
  return join(folder, `${name}.json.gz`);
}

function writeJson(folder: string, name: string, value: object): void {
  writeFileSync(fileOf(folder, name), gzipSync(JSON.stringify(value)));
}
