/** Local training as one call over flat vectors: the port, and the loop that fills it from any backend. */

import { checkDataset } from '../data/check-dataset.ts';
import { type BatchWriter, batchWriter, type Dataset, type Samples } from '../data/samples.ts';
import { initialParameters } from '../model/initial.ts';
import type { Model } from '../model/model.ts';
import { randomStream } from '../numbers/random-stream.ts';
import type { Backend, Descent } from './backend.ts';
import { lossRule } from './losses.ts';
import type { Evaluation } from './scores.ts';

export interface TrainRequest extends Partial<Descent> {
  readonly start: Float32Array;
  readonly samples: Samples;
  /** Whole passes over the samples (1 by default), or steps of one batch. */
  readonly epochs?: number;
  readonly steps?: number;
  readonly batchSize: number;
  readonly learningRate: number;
  /** Fixes the order of examples and the dropout. */
  readonly seed: number;
}

export interface TrainResult {
  /** start - end: a descent step of the server subtracts it. */
  readonly delta: Float32Array;
  /** Mean over the examples seen, each before its own step. */
  readonly loss: number;
  /** Examples seen. */
  readonly samples: number;
}

export interface Trainer {
  readonly name: string;
  readonly model: Model;
  /** The loss that it minimises, by its name in a task: softmaxCrossEntropy by default, or any name for a loss of your own. */
  readonly loss?: string;
  init(seed: number): Float32Array;
  train(request: TrainRequest): TrainResult;
  evaluate(parameters: Float32Array, samples: Samples): Evaluation;
}

export function createTrainer(backend: Backend): Trainer {
  checkOutputs(backend);
  const writers = new WeakMap<Dataset, BatchWriter>();
  const write = (dataset: Dataset, indices: Uint32Array): void => {
    let writer = writers.get(dataset);
    if (writer === undefined) {
      checkDataset(dataset, backend.model, backend.loss);
      writer = batchWriter(dataset);
      writers.set(dataset, writer);
    }
    writer(backend.inputs, backend.labels, indices);
  };
  return {
    name: backend.name,
    model: backend.model,
    loss: backend.loss,
    init: (seed) => initialParameters(backend.model, seed),
    train: (request) => train(backend, write, request),
    evaluate: (parameters, samples) => evaluate(backend, write, parameters, samples),
  };
}

type Write = (dataset: Dataset, indices: Uint32Array) => void;

function train(backend: Backend, write: Write, request: TrainRequest): TrainResult {
  const { samples, batchSize, learningRate, momentum = 0, weightDecay = 0, clipNorm, seed } = request;
  checkRequest(backend, request);
  const descent = { learningRate, momentum, weightDecay, ...(clipNorm !== undefined && { clipNorm }) };
  backend.setParameters(request.start);
  backend.rest();
  const order = Uint32Array.from(samples.indices);
  const batches = Math.ceil(order.length / batchSize);
  const steps = request.steps ?? (request.epochs ?? 1) * batches;
  const shuffles = randomStream(seed, 'order');
  const dropouts = randomStream(seed, 'dropout');
  let loss = 0;
  let seen = 0;
  for (let step = 0; step < steps; step++) {
    const first = (step % batches) * batchSize;
    if (first === 0) shuffles.shuffle(order);
    const batch = order.subarray(first, first + batchSize); // the last one may be smaller, and averages over itself
    for (let at = 0; at < batch.length; at += backend.batchCapacity) {
      const part = batch.subarray(at, at + backend.batchCapacity);
      write(samples.dataset, part);
      loss += backend.learn(part.length, dropouts, { batch: batch.length, adds: at > 0 });
    }
    seen += batch.length;
    backend.descend(descent);
  }
  const delta = new Float32Array(backend.model.dimension);
  backend.readParameters(delta);
  for (let n = 0; n < delta.length; n++) delta[n] = (request.start[n] as number) - (delta[n] as number);
  return { delta, loss: loss / seen, samples: seen };
}

function evaluate(backend: Backend, write: Write, parameters: Float32Array, samples: Samples): Evaluation {
  checkParameters(backend, parameters);
  if (samples.indices.length === 0) throw new RangeError(`${samples.dataset.name}: nothing to evaluate on`);
  backend.setParameters(parameters);
  const judge = lossRule(backend.loss).judge();
  const width = backend.model.classes;
  let loss = 0;
  for (let first = 0; first < samples.indices.length; first += backend.batchCapacity) {
    const batch = samples.indices.subarray(first, first + backend.batchCapacity);
    write(samples.dataset, batch);
    loss += backend.run(batch.length);
    for (let row = 0; row < batch.length; row++)
      judge.add(backend.outputs.subarray(row * width, (row + 1) * width), backend.labels[row] as number);
  }
  const count = samples.indices.length;
  return { loss: loss / count, samples: count, ...judge.scores() };
}

function checkOutputs({ model, loss }: Backend): void {
  if (lossRule(loss).classesOf(model.classes) !== undefined) return;
  throw new RangeError(
    `${model.name} has ${model.classes} outputs, but the loss ${loss} needs one; end the network with dense(1), or use another loss`,
  );
}

function checkRequest(backend: Backend, request: TrainRequest): void {
  checkParameters(backend, request.start);
  const { batchSize, epochs, steps, samples } = request;
  if (!Number.isInteger(batchSize) || batchSize < 1)
    throw new RangeError(`batchSize must be a positive integer, got ${batchSize}`);
  if (epochs !== undefined && steps !== undefined) throw new RangeError('give epochs or steps, not both');
  const turns = steps ?? epochs ?? 1;
  if (!Number.isInteger(turns) || turns < 1) throw new RangeError(`epochs or steps must be at least 1, got ${turns}`);
  if (samples.indices.length === 0) throw new RangeError(`${samples.dataset.name}: a client without samples`);
  for (const name of ['learningRate', 'momentum', 'weightDecay'] as const) {
    const value = request[name] ?? 0;
    if (!(value >= 0 && value < Number.POSITIVE_INFINITY)) throw new RangeError(`${name} must be >= 0, got ${value}`);
  }
  if (request.clipNorm !== undefined && !(request.clipNorm > 0)) throw new RangeError('clipNorm must be positive');
}

function checkParameters({ model }: Backend, parameters: Float32Array): void {
  if (parameters.length !== model.dimension) {
    throw new RangeError(`${model.name} has ${model.dimension} parameters, got ${parameters.length}`);
  }
}
