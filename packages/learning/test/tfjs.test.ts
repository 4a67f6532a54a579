/**
 * The adapter against a small structural fake of tfjs: softmax regression with its gradients written out, and nothing
 * of tfjs's own around it. test/tfjs trains with TensorFlow.js itself.
 */
import { describe, expect, it } from 'vitest';
import { allSamples, createReferenceBackend, createTrainer, defineModel, dense, randomStream } from '../src/index.ts';
import { createTfjsBackend, type Tf, type TfModel, type TfTensor } from '../src/tfjs.ts';

class FakeTensor implements TfTensor {
  static alive = 0;
  readonly shape: number[];
  readonly name: string;
  values: Float32Array;

  constructor(values: ArrayLike<number>, shape: readonly number[], name = '') {
    this.values = Float32Array.from(values);
    this.shape = [...shape];
    this.name = name;
    FakeTensor.alive++;
  }

  dataSync(): Float32Array {
    return this.values;
  }

  dispose(): void {
    FakeTensor.alive--;
  }
}

const INPUTS = 5;
const CLASSES = 3;

/** A dense layer with the kernel as tfjs keeps it: [inputs, outputs]. */
function fakeTfjs(): { tf: Tf; network: TfModel } {
  const kernel = new FakeTensor(new Float32Array(INPUTS * CLASSES), [INPUTS, CLASSES], 'kernel_1');
  const bias = new FakeTensor(new Float32Array(CLASSES), [CLASSES], 'bias_1');
  let seen: { inputs: Float32Array; shares: number[][]; hot: Float32Array; rows: number } | undefined;
  const network: TfModel = {
    name: 'fake',
    getConfig: () => ({ name: 'fake', layers: [{ className: 'Dense', config: { units: CLASSES } }] }),
    inputs: [{ shape: [null, INPUTS] }],
    outputs: [{ shape: [null, CLASSES] }],
    weights: [1, 2],
    trainableWeights: [
      { name: 'kernel_1', originalName: 'kernel', read: () => kernel },
      { name: 'bias_1', originalName: 'bias', read: () => bias },
    ],
    getWeights: () => [kernel, bias],
    setWeights: (weights) => {
      kernel.values = Float32Array.from(weights[0]?.dataSync() ?? []);
      bias.values = Float32Array.from(weights[1]?.dataSync() ?? []);
    },
    apply: (inputs) => {
      const rows = inputs.shape[0] ?? 0;
      const x = Float32Array.from(inputs.dataSync());
      const logits = Array.from({ length: rows * CLASSES }, (_, n) => {
        const [row, c] = [Math.floor(n / CLASSES), n % CLASSES];
        let sum = bias.values[c] ?? 0;
        for (let i = 0; i < INPUTS; i++) sum += (x[row * INPUTS + i] ?? 0) * (kernel.values[i * CLASSES + c] ?? 0);
        return sum;
      });
      seen = { inputs: x, shares: [], hot: new Float32Array(), rows };
      return new FakeTensor(logits, [rows, CLASSES]);
    },
  };
  const otherLoss = (): never => {
    throw new Error('this network has the default loss');
  };
  const tf: Tf = {
    tidy: (run) => {
      const before = FakeTensor.alive;
      run();
      FakeTensor.alive = before;
    },
    tensor: (values, shape) => new FakeTensor(values, shape),
    oneHot: (indices, depth) => {
      const list = Array.from(indices.dataSync());
      return new FakeTensor(
        list.flatMap((label) => Array.from({ length: depth }, (_, c) => Number(c === label))),
        [list.length, depth],
      );
    },
    losses: {
      sigmoidCrossEntropy: otherLoss,
      meanSquaredError: otherLoss,
      softmaxCrossEntropy: (hot, logits) => {
        const z = Array.from(logits.dataSync());
        const rows = hot.shape[0] ?? 0;
        let loss = 0;
        const shares = Array.from({ length: rows }, (_, row) => {
          const powers = z.slice(row * CLASSES, (row + 1) * CLASSES).map(Math.exp);
          const sum = powers.reduce((a, b) => a + b);
          for (let c = 0; c < CLASSES; c++)
            loss -= (hot.dataSync()[row * CLASSES + c] ?? 0) * Math.log((powers[c] ?? 0) / sum);
          return powers.map((power) => power / sum);
        });
        if (seen) seen = { ...seen, shares, hot: Float32Array.from(hot.dataSync()) };
        return new FakeTensor([loss / rows], []);
      },
    },
    variableGrads: (loss) => {
      const before = FakeTensor.alive;
      const value = new FakeTensor(loss().dataSync(), []);
      const { inputs, shares, hot, rows } = seen as NonNullable<typeof seen>;
      const off = (row: number, c: number): number => ((shares[row]?.[c] ?? 0) - (hot[row * CLASSES + c] ?? 0)) / rows;
      const sums = (of: (row: number) => number): number =>
        Array.from({ length: rows }, (_, row) => of(row)).reduce((a, b) => a + b);
      const kernelGradient = Array.from({ length: INPUTS * CLASSES }, (_, n) =>
        sums((row) => (inputs[row * INPUTS + Math.floor(n / CLASSES)] ?? 0) * off(row, n % CLASSES)),
      );
      const biasGradient = Array.from({ length: CLASSES }, (_, c) => sums((row) => off(row, c)));
      FakeTensor.alive = before + 3;
      const grads = {
        bias_1: new FakeTensor(biasGradient, [CLASSES]),
        kernel_1: new FakeTensor(kernelGradient, [INPUTS, CLASSES]),
      };
      FakeTensor.alive = before + 3;
      return { value, grads };
    },
  };
  return { tf, network };
}

describe('the tfjs adapter, over a structural fake', () => {
  const random = randomStream(1);
  const dataset = {
    name: 'points',
    shape: { height: 1, width: 1, channels: INPUTS },
    classes: CLASSES,
    inputs: Float32Array.from({ length: 20 * INPUTS }, () => random.unit()),
    labels: Int32Array.from({ length: 20 }, () => random.below(CLASSES)),
  };

  it('reads the layout of a model from its weights', () => {
    const { tf, network } = fakeTfjs();
    const { model } = createTfjsBackend(tf, network);
    expect(model.manifest.map(({ name, shape, offset }) => [name, shape, offset])).toEqual([
      ['kernel', [5, 3], 0],
      ['bias', [3], 15],
    ]);
    expect([model.dimension, model.classes, model.input.channels]).toEqual([18, 3, 5]);
  });

  it('trains to the same result as the reference backend, and keeps no tensor', () => {
    const { tf, network } = fakeTfjs();
    const adapted = createTrainer(createTfjsBackend(tf, network, { batchCapacity: 8 }));
    const own = createTrainer(
      createReferenceBackend(defineModel('own', dataset.shape, [dense(CLASSES)]), { batchCapacity: 8 }),
    );
    const start = adapted.init(1);
    const turned = Float32Array.from(start);
    for (let n = 0; n < 15; n++) turned[(n % 3) * 5 + Math.floor(n / 3)] = start[n] as number;
    const request = {
      samples: allSamples(dataset),
      epochs: 3,
      batchSize: 8,
      learningRate: 0.2,
      momentum: 0.5,
      weightDecay: 0.01,
      clipNorm: 0.3,
      seed: 2,
    };
    const before = FakeTensor.alive;
    const [one, two] = [adapted.train({ ...request, start }), own.train({ ...request, start: turned })];
    expect(FakeTensor.alive).toBe(before);
    expect(one.loss).toBeCloseTo(two.loss, 5);
    for (let n = 0; n < 15; n++)
      expect(one.delta[n]).toBeCloseTo(two.delta[(n % 3) * 5 + Math.floor(n / 3)] as number, 5);
    const [here, there] = [adapted.evaluate(start, allSamples(dataset)), own.evaluate(turned, allSamples(dataset))];
    expect(here.accuracy).toBe(there.accuracy);
    expect(here.loss).toBeCloseTo(there.loss, 5);
  });

  it('refuses a model with weights that are not trained', () => {
    const { tf, network } = fakeTfjs();
    expect(() => createTfjsBackend(tf, { ...network, weights: [1, 2, 3] })).toThrow('not trained');
  });
});
