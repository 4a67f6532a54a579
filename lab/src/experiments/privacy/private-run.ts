/**
 * Trains a model on sums with accounted noise. The devices or the authority add it in integers, a trusted server adds it in floats, or
 * there is no noise.
 */
import { createServerStep, initialParameters, randomStream, type Trainer } from '@basa/learning';
import {
  addInPlace,
  addNoiseInPlace,
  dequantizeSum,
  firstOutOfRange,
  noiseTable,
  noisySumBound,
  type PrivatePlan,
  plainVectorKernel,
  planPrivate,
  roundWithin,
  toResidue,
} from '@basa/masking';
import { seededWords } from '@basa/simulator/node';
import type { LearnTask } from '@basa/simulator/virtual-time';
import type { TaskName } from '../tasks/learning-tasks.ts';

export interface PrivateRun {
  readonly task: TaskName;
  readonly seed: number;
  /** The party that adds the noise. */
  readonly noise: 'none' | 'central' | 'distributed' | 'authority';
  /** z, the noise multiplier. Not used with `none`. */
  readonly noiseMultiplier: number;
  readonly bufferSize: number;
  readonly buffers: number;
  /** C. */
  readonly clip: number;
  readonly learningRate: number;
  /** Examples of a trip at most. */
  readonly maxExamples: number;
}

export interface PrivateTrained {
  /** On a part of the test set, by the number of buffers. */
  readonly accuracy: readonly (readonly [buffers: number, accuracy: number])[];
  /** On all of it, at the end. */
  readonly wholeAccuracy: number;
  /** Share of the updates that were longer than C. */
  readonly clippedShare: number;
  /** The most inclusions that a user had. */
  readonly inclusions: number;
}

/** The allowance for drop-outs and colluders, as in a task with default settings. */
function planOf(
  run: Pick<PrivateRun, 'bufferSize' | 'clip' | 'noise' | 'noiseMultiplier'>,
  dimension: number,
): PrivatePlan {
  const { bufferSize, clip, noiseMultiplier } = run;
  const planned = planPrivate({
    dimension,
    bufferSize,
    minimum: Math.ceil(0.8 * bufferSize),
    colluders: Math.floor(bufferSize / 10),
    clip,
    noiseMultiplier,
    isCentral: run.noise === 'authority',
  });
  if (planned.kind === 'refused') throw new Error(planned.sentence);
  return planned.plan;
}

const LOOKS = 20;

/**
 * Every user once, in a random order, then every user once more: no user is in a sum more often than another. Each buffer
 * is trained on the newest model, so that all weights are 1.
 */
export function trainPrivate(run: PrivateRun, task: LearnTask, trainer: Trainer): PrivateTrained {
  const { seed, bufferSize, buffers, noise } = run;
  const parameters = initialParameters(task.model, seed);
  const step = createServerStep({ kind: 'fedbuff', rate: 1 });
  const isInteger = noise === 'distributed' || noise === 'authority';
  const sums = isInteger ? integerSums(run, task.model.dimension) : floatSums(run, task.model.dimension);
  const accuracy: [number, number][] = [];
  let [clipped, trip] = [0, 0];
  for (let buffer = 1; buffer <= buffers; buffer++) {
    for (let n = 0; n < bufferSize; n++, trip++) {
      const delta = deltaOf(run, task, trainer, parameters, trip);
      if (Math.sqrt(delta.reduce((sum, value) => sum + value * value, 0)) > run.clip) clipped++;
      sums.add(delta);
    }
    step.applyInPlace(parameters, sums.takeMean(buffer));
    if (buffer % Math.max(1, Math.floor(buffers / LOOKS)) === 0)
      accuracy.push([buffer, trainer.evaluate(parameters, task.quickTest).accuracy ?? Number.NaN]);
  }
  return {
    accuracy,
    wholeAccuracy: trainer.evaluate(parameters, task.wholeTest).accuracy ?? Number.NaN,
    clippedShare: clipped / trip,
    inclusions: Math.ceil(trip / task.users),
  };
}

function deltaOf(
  { seed, learningRate, maxExamples }: PrivateRun,
  task: LearnTask,
  trainer: Trainer,
  start: Float32Array,
  trip: number,
): Float32Array {
  const pass = Math.floor(trip / task.users);
  const user = orderOf(task.users, seed, pass)[trip % task.users] as number;
  const samples = task.samplesOf(user, maxExamples);
  const { batchSize } = task;
  const steps = Math.ceil(Math.min(samples.indices.length, maxExamples) / batchSize);
  if (steps === 0) return new Float32Array(start.length);
  const batch = randomStream(seed, 'private batch', trip).u32();
  return trainer.train({ start, samples, steps, batchSize, learningRate, seed: batch }).delta;
}

function orderOf(users: number, seed: number, pass: number): Uint32Array {
  return randomStream(seed, 'pass', pass).shuffle(Uint32Array.from({ length: users }, (_, user) => user));
}

interface Sums {
  add(delta: Float32Array): void;
  /** Of the updates since the last one. */
  takeMean(buffer: number): Float32Array | Float64Array;
}

/** As devices, authority and server do it: rounded within the bound, noise on each update or on the sum, a sum in the ring, checked against its range. */
function integerSums(run: PrivateRun, dimension: number): Sums {
  const { level, modulus, noise } = planOf(run, dimension);
  const quantizer = { level, clip: run.clip, modulus };
  const table = noiseTable(noise.variance);
  const words = seededWords(randomStream(run.seed, `${run.noise} noise`).u32());
  const kernel = plainVectorKernel();
  let [sum, count] = [new Uint32Array(dimension), 0];
  return {
    add(delta) {
      const rounded = roundWithin(delta, quantizer, words);
      const input = Uint32Array.from(rounded.integers, (integer) => toResidue(integer, modulus));
      if (!noise.isCentral) addNoiseInPlace(input, table, modulus, words);
      addInPlace(sum, input, modulus, kernel);
      count++;
    },
    takeMean() {
      if (noise.isCentral) addNoiseInPlace(sum, table, modulus, words);
      const offender = firstOutOfRange(sum, modulus, noisySumBound(quantizer, noise, count));
      if (offender >= 0) throw new Error(`coordinate ${offender} of an honest sum is out of range`);
      const mean = dequantizeSum(sum, quantizer, { weightSum: count, weightScale: 1 });
      [sum, count] = [new Uint32Array(dimension), 0];
      return mean;
    },
  };
}

/** A server that is trusted with the updates: it sums clipped floats and adds one Gaussian of z C, or no noise. */
function floatSums({ seed, clip, noise, noiseMultiplier }: PrivateRun, dimension: number): Sums {
  const deviation = noise === 'none' ? 0 : noiseMultiplier * clip;
  let [sum, count] = [new Float64Array(dimension), 0];
  return {
    add(delta) {
      const norm = Math.sqrt(delta.reduce((total, value) => total + value * value, 0));
      const factor = norm > clip ? clip / norm : 1;
      for (let k = 0; k < dimension; k++) sum[k] = (sum[k] as number) + factor * (delta[k] as number);
      count++;
    },
    takeMean(buffer) {
      const normals = randomStream(seed, 'server noise', buffer);
      const mean = sum.map((value) => (value + (deviation === 0 ? 0 : deviation * normals.normal())) / count);
      [sum, count] = [new Float64Array(dimension), 0];
      return mean;
    },
  };
}
