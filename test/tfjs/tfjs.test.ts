/** The adapter over TensorFlow.js itself, on its CPU backend, held to the reference backend of the same network. */
import {
  allSamples,
  conv2d,
  createReferenceBackend,
  createTrainer,
  defineModel,
  dense,
  type Evaluation,
  flatten,
  type Model,
  manifestText,
  maxPool,
  randomStream,
  relu,
  type Samples,
  scoreOf,
} from '@basa/learning';
import { createTfjsBackend } from '@basa/learning/tfjs';
import * as tf from '@tensorflow/tfjs-core';
import { type LayersModel, layers, sequential } from '@tensorflow/tfjs-layers';
import '@tensorflow/tfjs-backend-cpu';
import { beforeAll, expect, it } from 'vitest';

const CLASSES = 3;
const SHAPE = { height: 8, width: 8, channels: 2 };
const EXAMPLES = 60;
const BATCH = 8;

beforeAll(() => {
  tf.enableProdMode(); // without the advice to take another backend
});

const own = defineModel('own', SHAPE, [conv2d(4, 3), relu, maxPool(2), flatten, dense(6), relu, dense(CLASSES)]);

function network(): LayersModel {
  const { height, width, channels } = SHAPE;
  return sequential({
    layers: [
      layers.conv2d({ inputShape: [height, width, channels], filters: 4, kernelSize: 3, activation: 'relu' }),
      layers.maxPooling2d({ poolSize: 2 }),
      layers.flatten(),
      layers.dense({ units: 6, activation: 'relu' }),
      layers.dense({ units: CLASSES }),
    ],
  });
}

/** Images whose class is the brightest of three stripes. */
function stripes(): Samples {
  const random = randomStream(5, 'stripes');
  const labels = Int32Array.from({ length: EXAMPLES }, () => random.below(CLASSES));
  const words = SHAPE.height * SHAPE.width * SHAPE.channels;
  const inputs = Float32Array.from({ length: EXAMPLES * words }, (_, n) => {
    const row = Math.floor((n % words) / (SHAPE.width * SHAPE.channels));
    return random.unit() + (Math.floor((row * CLASSES) / SHAPE.height) === labels[Math.floor(n / words)] ? 0.5 : 0);
  });
  return allSamples({ name: 'stripes', shape: SHAPE, classes: CLASSES, inputs, labels });
}

/** From tfjs's order, outputs last, to ours, outputs first. */
function toOwnOrder(model: Model, values: Float32Array): Float32Array {
  const turned = Float32Array.from(values);
  for (const { shape, offset, length } of model.manifest) {
    const outputs = shape.at(-1) ?? 1;
    const inputs = length / outputs;
    for (let n = 0; n < length; n++) {
      turned[offset + (n % outputs) * inputs + Math.floor(n / outputs)] = values[offset + n] as number;
    }
  }
  return turned;
}

const request = { samples: stripes(), batchSize: BATCH, learningRate: 0.1, momentum: 0.5, weightDecay: 1e-3, seed: 2 };

it('tfjs trains through the adapter to the result of the reference backend, and leaves no tensor behind', () => {
  const adapted = createTrainer(createTfjsBackend<tf.Tensor>(tf, network(), { batchCapacity: BATCH }));
  const reference = createTrainer(createReferenceBackend(own, { batchCapacity: BATCH }));
  expect(adapted.model.dimension).toBe(own.dimension);
  const start = adapted.init(1);
  adapted.evaluate(start, request.samples);
  const before = tf.memory().numTensors;
  const result = adapted.train({ ...request, start, epochs: 2, clipNorm: 1 });
  const { accuracy, loss } = adapted.evaluate(start, request.samples);
  expect(tf.memory().numTensors).toBe(before);

  const ownStart = toOwnOrder(adapted.model, start);
  const expected = reference.train({ ...request, start: ownStart, epochs: 2, clipNorm: 1 });
  expect(result.samples).toBe(expected.samples);
  expect(result.loss).toBeCloseTo(expected.loss, 5);
  const delta = toOwnOrder(adapted.model, result.delta);
  const farthest = delta.reduce((most, value, n) => Math.max(most, Math.abs(value - (expected.delta[n] as number))), 0);
  expect(farthest).toBeLessThan(1e-5);
  expect(Math.max(...delta.map(Math.abs))).toBeGreaterThan(0.01);
  const judged = reference.evaluate(ownStart, request.samples);
  expect(accuracy).toBe(judged.accuracy);
  expect(loss).toBeCloseTo(judged.loss, 5);
});

it('the layout of a tfjs model is read from its weights', () => {
  const network = sequential({ layers: [layers.dense({ name: 'head', inputShape: [5], units: CLASSES })] });
  const { model } = createTfjsBackend<tf.Tensor>(tf, network);
  expect(model.manifest.map(({ name, shape, offset }) => [name, shape, offset])).toEqual([
    ['head/kernel', [5, CLASSES], 0],
    ['head/bias', [CLASSES], 15],
  ]);
  expect([model.dimension, model.classes, model.input.channels]).toEqual([18, CLASSES, 5]);
});

it('a tfjs model learns', () => {
  const trainer = createTrainer(createTfjsBackend<tf.Tensor>(tf, network(), { batchCapacity: BATCH }));
  const start = trainer.init(1);
  const { delta } = trainer.train({ ...request, start, epochs: 15 });
  const end = start.map((value, n) => value - (delta[n] as number));
  expect(trainer.evaluate(end, request.samples).accuracy).toBeGreaterThan(0.9);
});

it.each(['mse', 'binaryCrossEntropy'] as const)('%s of tfjs is the one of the reference backend', (loss) => {
  const channels = 3;
  const network = sequential({ layers: [layers.dense({ name: 'head', inputShape: [channels], units: 1 })] });
  const adapted = createTrainer(createTfjsBackend<tf.Tensor>(tf, network, { loss }));
  const model = defineModel('head', { height: 1, width: 1, channels }, [dense(1, { name: 'head' })]);
  const reference = createTrainer(createReferenceBackend(model, { loss }));
  const random = randomStream(1, 'numbers');
  const inputs = Float32Array.from({ length: channels * 40 }, () => random.normal());
  const numbers = Float32Array.from({ length: 40 }, (_, n) => (inputs[channels * n] ?? 0) - 0.5);
  const labels = loss === 'mse' ? numbers : Int32Array.from(numbers, (value) => Number(value > 0));
  const samples = allSamples({ name: 'n', shape: model.input, classes: loss === 'mse' ? 1 : 2, inputs, labels });
  const start = new Float32Array(channels + 1).fill(0.1); // one output: both orders of the weights are the same
  const [there, here] = [adapted, reference].map((trainer) => ({
    ...trainer.train({ start, samples, epochs: 3, batchSize: 8, learningRate: 0.1, seed: 1 }),
    evaluation: trainer.evaluate(start, samples),
  }));
  expect(there?.loss).toBeCloseTo(here?.loss ?? 0, 5);
  for (const [n, value] of (here?.delta ?? []).entries()) expect(there?.delta[n]).toBeCloseTo(value, 5);
  expect(scoreOf(there?.evaluation as Evaluation)?.value).toBeCloseTo(
    scoreOf(here?.evaluation as Evaluation)?.value ?? 0,
    5,
  );
});

it('a tfjs model with weights that are not trained is refused', () => {
  const frozen = sequential({
    layers: [layers.dense({ inputShape: [4], units: CLASSES, trainable: false }), layers.dense({ units: CLASSES })],
  });
  expect(() => createTfjsBackend<tf.Tensor>(tf, frozen)).toThrow('not trained');
});

it('the manifest of a tfjs model tells networks apart that have the same tensors', () => {
  const textOf = (rate: number, activation: 'relu' | 'tanh', name = 'net'): string => {
    const net = sequential({
      name,
      layers: [
        layers.dense({ inputShape: [4], units: 6, activation, name: 'a' }),
        layers.dropout({ rate, name: 'b' }),
        layers.dense({ units: CLASSES, name: 'c' }),
      ],
    });
    return manifestText(createTfjsBackend<tf.Tensor>(tf, net).model);
  };
  const text = textOf(0.3, 'relu');
  expect(textOf(0.3, 'relu', 'another')).toBe(text);
  expect(textOf(0.9, 'relu')).not.toBe(text);
  expect(textOf(0.3, 'tanh')).not.toBe(text);
});
