/** The slow, obvious backend in Float64: the oracle of the fast one, and its fallback if wasm SIMD is absent. */

import { type Model, type ModelLayer, wordsOf } from '../model/model.ts';
import type { RandomStream } from '../numbers/random-stream.ts';
import type { Backend, BackendOptions } from './backend.ts';
import { descendInPlace } from './descent.ts';
import { fillDropout } from './dropout-factors.ts';
import { flushed } from './flush.ts';
import { DEFAULT_LOSS, labelsFor, lossRule } from './losses.ts';
import * as layers from './reference-layers.ts';
import { softmaxOf } from './softmax.ts';

/** The output of a layer for one example, and the function that takes a gradient back through it. */
interface Passed {
  readonly output: Float64Array;
  readonly back: (dy: Float64Array) => Float64Array;
}

export function createReferenceBackend(
  model: Model,
  { batchCapacity = 32, loss = DEFAULT_LOSS }: BackendOptions = {},
): Backend {
  const rule = lossRule(loss);
  const parameters = new Float64Array(model.dimension);
  const gradients = new Float64Array(model.dimension);
  const velocity = new Float64Array(model.dimension);
  const words = wordsOf(model.input);
  const inputs = new Float64Array(batchCapacity * words);
  const labels = labelsFor(loss, new ArrayBuffer(4 * batchCapacity));
  const outputs = new Float64Array(batchCapacity * model.classes);

  const view = (vector: Float64Array, { tensors }: ModelLayer): layers.Weights => {
    const cut = (t: { offset: number; length: number } | undefined): Float64Array =>
      vector.subarray(t?.offset ?? 0, (t?.offset ?? 0) + (t?.length ?? 0));
    return { weight: cut(tensors?.weight), bias: cut(tensors?.bias) };
  };

  /** Dropout factors of the whole batch, layer after layer: the order in which the fast backend draws them. */
  const drawDropout = (count: number, random: RandomStream): Map<ModelLayer, Float64Array> => {
    const factors = new Map<ModelLayer, Float64Array>();
    for (const entry of model.layers) {
      if (entry.layer.kind !== 'dropout') continue;
      const drawn = new Float64Array(count * wordsOf(entry.input));
      fillDropout(drawn, entry.layer.rate, random);
      factors.set(entry, drawn);
    }
    return factors;
  };

  const pass = (row: number, dropout: Map<ModelLayer, Float64Array>): { output: Float64Array; trail: Passed[] } => {
    const trail: Passed[] = [];
    let x = flushed(inputs.slice(row * words, (row + 1) * words));
    for (const entry of model.layers) {
      const size = wordsOf(entry.input);
      const factors = dropout.get(entry)?.subarray(row * size, (row + 1) * size);
      const passed = passLayer(entry, x, view(parameters, entry), view(gradients, entry), factors);
      trail.push(passed);
      x = flushed(passed.output);
    }
    return { output: x, trail };
  };

  return {
    name: 'plain Float64',
    model,
    loss,
    batchCapacity,
    inputs,
    labels,
    outputs,
    setParameters(values) {
      parameters.set(values);
      flushed(parameters);
    },
    readParameters: (target) => target.set(parameters),
    readGradients: (target) => target.set(gradients),
    rest: () => void velocity.fill(0),
    run(count) {
      let sum = 0;
      for (let row = 0; row < count; row++) {
        const { output } = pass(row, new Map());
        outputs.set(output, row * model.classes);
        sum += rule.learn(output, labels[row] as number, new Float64Array(model.classes));
      }
      return sum;
    },
    learn(count, random, { batch = count, adds = false } = {}) {
      if (!adds) gradients.fill(0);
      const dropout = drawDropout(count, random);
      let sum = 0;
      for (let row = 0; row < count; row++) {
        const { output, trail } = pass(row, dropout);
        outputs.set(output, row * model.classes);
        let dy: Float64Array = new Float64Array(model.classes);
        sum += rule.learn(output, labels[row] as number, dy);
        dy = flushed(dy.map((value) => value / batch));
        for (const { back } of trail.reverse()) dy = flushed(back(dy));
      }
      flushed(gradients);
      return sum;
    },
    descend(descent) {
      descendInPlace({ parameters, velocity, gradients }, descent);
      flushed(parameters);
      flushed(velocity);
    },
  };
}

function passLayer(
  entry: ModelLayer,
  x: Float64Array,
  own: layers.Weights,
  gradient: layers.Weights,
  factors: Float64Array | undefined,
): Passed {
  const { layer } = entry;
  switch (layer.kind) {
    case 'conv2d':
      return {
        output: layers.convolve(entry, layer, x, own),
        back: (dy) => layers.convolveBack(entry, layer, x, dy, own, gradient),
      };
    case 'dense':
      return { output: layers.multiply(x, own), back: (dy) => layers.multiplyBack(x, dy, own, gradient) };
    case 'maxPool': {
      const places = layers.poolPlaces(entry, layer, x);
      const output = Float64Array.from(places, (at) => x[at] as number);
      return { output, back: (dy) => layers.scatter(dy, places, x.length) };
    }
    case 'groupNorm': {
      const normalised = layers.normalise(entry, layer, x);
      const output = layers.scaleAndShift(normalised, own);
      return { output, back: (dy) => layers.normaliseBack(normalised, dy, own, gradient) };
    }
    case 'relu':
      return { output: x.map((v) => Math.max(v, 0)), back: (dy) => dy.map((g, n) => ((x[n] as number) > 0 ? g : 0)) };
    case 'sigmoid': {
      const y = layers.sigmoidOf(x);
      return { output: y, back: (dy) => dy.map((g, n) => g * (y[n] as number) * (1 - (y[n] as number))) };
    }
    case 'softmax': {
      const y = softmaxOf(x);
      return { output: y, back: (dy) => layers.softmaxBack(y, dy) };
    }
    case 'dropout': {
      const by = (v: Float64Array): Float64Array => (factors ? v.map((value, n) => value * (factors[n] as number)) : v);
      return { output: by(x), back: by };
    }
    case 'flatten':
      return { output: x, back: (dy) => dy };
  }
}
