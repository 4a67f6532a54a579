/**
 * A user's own TensorFlow.js model as a backend: tfjs computes losses and gradients; descent and everything around it
 * are ours. tfjs is an optional peer dependency, described here only as far as it is used. Its dropout has its own
 * randomness and its backends their own arithmetic, so bits repeat only as far as tfjs lets them.
 */
import { canonicalJson } from './model/canonical-json.ts';
import { type Model, type Shape, type Tensor, wordsOf } from './model/model.ts';
import type { Backend, BackendOptions } from './training/backend.ts';
import { descendInPlace } from './training/descent.ts';
import { DEFAULT_LOSS, type LossName, labelsFor } from './training/losses.ts';

export interface TfTensor {
  readonly shape: number[];
  dataSync(): ArrayLike<number>;
  dispose(): void;
}

export interface TfWeight<T extends TfTensor = TfTensor> {
  readonly name: string;
  /** The name that its layer gave it; tfjs numbers the names of a second network in a process. */
  readonly originalName: string;
  /** The variable behind the weight. */
  read(): T;
}

/** The part of `tf.LayersModel` that is used. */
export interface TfModel<T extends TfTensor = TfTensor> {
  readonly name: string;
  readonly inputs: readonly { readonly shape: readonly (number | null)[] }[];
  readonly outputs: readonly { readonly shape: readonly (number | null)[] }[];
  readonly weights: readonly unknown[];
  readonly trainableWeights: readonly TfWeight<T>[];
  /** Every layer with its configuration. */
  getConfig(): object;
  getWeights(trainableOnly?: boolean): T[];
  setWeights(weights: T[]): void;
  apply(inputs: T, options?: { training?: boolean }): unknown;
}

/** The part of `tf` itself that is used. */
export interface Tf<T extends TfTensor = TfTensor> {
  tidy(run: () => void): unknown;
  tensor(values: Float32Array | Int32Array, shape: number[], dtype?: 'float32' | 'int32'): T;
  oneHot(indices: T, depth: number): T;
  readonly losses: {
    softmaxCrossEntropy(oneHot: T, logits: T): T;
    sigmoidCrossEntropy(labels: T, logits: T): T;
    meanSquaredError(labels: T, outputs: T): T;
  };
  /** The variables have a class of tfjs. `never` fits this class without naming it. */
  variableGrads(loss: () => T, variables: never[]): { value: TfTensor; grads: Record<string, TfTensor> };
}

/** The mean loss of a batch, computed by tfjs. */
function meanLoss<T extends TfTensor>(tf: Tf<T>, loss: LossName, labels: Int32Array | Float32Array, outputs: T): T {
  const [rows, classes = 1] = outputs.shape;
  const { losses } = tf;
  if (loss === 'softmaxCrossEntropy') {
    const classesOfRows = tf.tensor(labels, [labels.length], 'int32');
    return losses.softmaxCrossEntropy(tf.oneHot(classesOfRows, classes), outputs);
  }
  const wanted = tf.tensor(Float32Array.from(labels), [rows ?? 0, 1], 'float32');
  return loss === 'mse' ? losses.meanSquaredError(wanted, outputs) : losses.sigmoidCrossEntropy(wanted, outputs);
}

/**
 * For a model that ends in the outputs that the loss takes (by default logits, one per class), and whose weights are
 * all trainable.
 */
export function createTfjsBackend<T extends TfTensor>(
  tf: Tf<T>,
  network: TfModel<T>,
  { batchCapacity = 32, loss = DEFAULT_LOSS }: BackendOptions = {},
): Backend {
  const model = describe(network);
  const inputShape = (network.inputs[0]?.shape ?? []).slice(1).map((size) => size ?? 1);
  const words = wordsOf(model.input);
  const parameters = new Float32Array(model.dimension);
  const gradients = new Float32Array(model.dimension);
  const velocity = new Float32Array(model.dimension);
  const inputs = new Float32Array(batchCapacity * words);
  const labels = labelsFor(loss, new ArrayBuffer(4 * batchCapacity));
  const outputs = new Float32Array(batchCapacity * model.classes);
  // Reading a weight returns its variable, which has its own name.
  const variables = network.trainableWeights.map((weight): T & { name?: string } => weight.read());

  const loadWeights = (): void => {
    const tensors = model.manifest.map(({ offset, length, shape }) =>
      tf.tensor(parameters.slice(offset, offset + length), [...shape]),
    );
    network.setWeights(tensors);
    for (const tensor of tensors) tensor.dispose();
  };
  /** The mean loss of the first `count` rows; leaves the logits in `outputs`. */
  const lossOf = (count: number, training: boolean): T => {
    const batch = tf.tensor(inputs.slice(0, count * words), [count, ...inputShape]);
    const logits = network.apply(batch, { training }) as T;
    outputs.set(Float32Array.from(logits.dataSync()));
    return meanLoss(tf, loss, labels.slice(0, count), logits);
  };

  return {
    name: 'TensorFlow.js',
    model,
    loss,
    batchCapacity,
    inputs,
    labels,
    outputs,
    setParameters(values) {
      parameters.set(values);
      loadWeights();
    },
    readParameters: (target) => target.set(parameters),
    readGradients: (target) => target.set(gradients),
    rest: () => void velocity.fill(0),
    run(count) {
      let sum = 0;
      tf.tidy(() => {
        sum = count * (lossOf(count, false).dataSync()[0] ?? Number.NaN);
      });
      return sum;
    },
    learn(count) {
      const { value, grads } = tf.variableGrads(() => lossOf(count, true), variables as never[]);
      for (const [n, { offset, name }] of model.manifest.entries()) {
        const gradient = grads[variables[n]?.name ?? name];
        if (gradient === undefined) throw new Error(`tfjs gave no gradient of ${name}`);
        gradients.set(Float32Array.from(gradient.dataSync()), offset);
      }
      const mean = value.dataSync()[0] ?? Number.NaN;
      for (const tensor of [value, ...Object.values(grads)]) tensor.dispose();
      return count * mean;
    },
    descend(descent) {
      descendInPlace({ parameters, velocity, gradients }, descent);
      loadWeights();
    },
  };
}

/** The manifest in the order of the model's own weights. */
function describe(network: TfModel): Model {
  if (network.weights.length !== network.trainableWeights.length) {
    throw new RangeError(`${network.name} has weights that are not trained; they would differ between users`);
  }
  const tensors = network.getWeights(true);
  const manifest: Tensor[] = [];
  let offset = 0;
  for (const [n, { shape }] of tensors.entries()) {
    const length = shape.reduce((product, size) => product * size, 1);
    const fanIn = Math.max(1, length / (shape.at(-1) ?? 1)); // tfjs keeps outputs last
    manifest.push({
      name: network.trainableWeights[n]?.originalName ?? `weight${n}`,
      shape: [...shape],
      offset,
      length,
      fanIn,
    });
    offset += length;
  }
  const classes = network.outputs[0]?.shape.at(-1) ?? 0;
  const architecture = [canonicalJson({ ...network.getConfig(), name: undefined })]; // tfjs numbers nameless networks
  return {
    name: network.name,
    input: inputOf(network),
    layers: [],
    architecture,
    manifest,
    dimension: offset,
    classes,
  };
}

function inputOf(network: TfModel): Shape {
  const [height = 1, width = 1, channels = 1] = (network.inputs[0]?.shape ?? []).slice(1).map((size) => size ?? 1);
  const rank = (network.inputs[0]?.shape.length ?? 0) - 1;
  if (rank === 1) return { height: 1, width: 1, channels: height };
  return { height, width, channels };
}
