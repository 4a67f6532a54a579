/** Every loss of the table: gradients against differences, the score that fits, and examples that are refused with their place. */
import { BACKENDS } from '@basa/testkit/core/backends.ts';
import { describe, expect, it } from 'vitest';
import {
  allSamples,
  createReferenceBackend,
  createTrainer,
  type Dataset,
  decodeDataset,
  defineModel,
  dense,
  encodeDataset,
  LOSSES,
  type LossName,
  randomStream,
  relu,
  scoreOf,
  scoreText,
  type Trainer,
} from '../src/index.ts';

const shape = { height: 1, width: 1, channels: 3 };
const NAMES = Object.keys(LOSSES) as LossName[];
const outputsOf = (loss: LossName): number => (loss === 'softmaxCrossEntropy' ? 3 : 1);
const modelOf = (loss: LossName, outputs = outputsOf(loss)) =>
  defineModel(`for ${loss}`, shape, [dense(6), relu, dense(outputs)]);

/** The label follows from a line through the inputs: its value, its sign, or which third it lies in. */
function dataFor(loss: LossName, count = 120): Dataset {
  const random = randomStream(5, 'line');
  const inputs = Float32Array.from({ length: 3 * count }, () => random.normal());
  const line = Float32Array.from({ length: count }, (_, n) => {
    const [a, b, c] = inputs.subarray(3 * n, 3 * n + 3) as unknown as [number, number, number];
    return 2 * a - b + 0.5 * c;
  });
  if (loss === 'mse') return { name: 'line', shape, classes: 1, inputs, labels: line };
  const classes = loss === 'softmaxCrossEntropy' ? 3 : 2;
  const classOf = (value: number): number => (classes === 2 ? Number(value > 0) : value < -1 ? 0 : value < 1 ? 1 : 2);
  return { name: 'line', shape, classes, inputs, labels: Int32Array.from(line, classOf) };
}

describe.each(NAMES)('%s', (loss) => {
  it('has the gradient that differences of its loss have', () => {
    const rule = LOSSES[loss];
    const outputs = Float64Array.from([0.7, -1.2, 0.1]).subarray(0, outputsOf(loss));
    const label = loss === 'mse' ? 2.5 : 1 % outputsOf('softmaxCrossEntropy');
    const gradient = new Float64Array(outputs.length);
    rule.learn(outputs, label, gradient);
    const h = 1e-6;
    for (let n = 0; n < outputs.length; n++) {
      const moved = (by: number): number =>
        rule.learn(
          outputs.map((value, k) => (k === n ? value + by : value)),
          label,
          new Float64Array(outputs.length),
        );
      expect(gradient[n]).toBeCloseTo((moved(h) - moved(-h)) / (2 * h), 5);
    }
  });

  it('is learned on every backend, to the same numbers, and reported by the fitting score', () => {
    const [dataset, model] = [dataFor(loss), modelOf(loss)];
    const found = Object.values(BACKENDS).map((make) => {
      const trainer: Trainer = createTrainer(make(model, 32, loss));
      expect(trainer.loss).toBe(loss);
      const [start, samples] = [trainer.init(1), allSamples(dataset)];
      const { delta } = trainer.train({ start, samples, epochs: 30, batchSize: 12, learningRate: 0.05, seed: 2 });
      return trainer.evaluate(
        start.map((value, n) => value - (delta[n] as number)),
        samples,
      );
    });
    for (const evaluation of found) {
      const score = scoreOf(evaluation);
      expect(score?.name).toBe(loss === 'mse' ? 'r2' : 'accuracy');
      expect(score?.value).toBeGreaterThan(0.85);
    }
    expect(found[0]?.loss).toBeCloseTo(found[1]?.loss ?? 0, 3);
  });

  it('has examples that survive a file', () => {
    const dataset = dataFor(loss);
    expect(decodeDataset(encodeDataset(dataset))).toEqual(dataset);
  });
});

describe('a score', () => {
  it('of numbers is 1 if all are exact, 0 at their mean, and has no accuracy', () => {
    const judged = (outputs: readonly number[]) => {
      const judge = LOSSES.mse.judge();
      for (const [n, label] of [1000, 1001, 1002].entries()) judge.add(Float32Array.of(outputs[n] as number), label);
      return judge.scores();
    };
    expect(judged([1000, 1001, 1002])).toEqual({ r2: 1 });
    expect(judged([1001, 1001, 1001])).toEqual({ r2: 0 });
  });

  it('is the first that an evaluation names, and is printed as people read it', () => {
    expect(scoreOf({ loss: 1, samples: 2, perplexity: 12.345 })).toEqual({ name: 'perplexity', value: 12.345 });
    expect(scoreOf({ loss: 1, samples: 2 })).toBeUndefined();
    expect(scoreText({ name: 'accuracy', value: 0.875 })).toBe('87.50 %');
    expect(scoreText({ name: 'r2', value: 0.87654 })).toBe('0.877');
  });
});

describe('examples that cannot be trained on are refused with their place', () => {
  const good = dataFor('binaryCrossEntropy');
  const train = (change: Partial<Dataset>, loss: LossName) => () => {
    const trainer = createTrainer(createReferenceBackend(modelOf(loss), { loss }));
    trainer.evaluate(trainer.init(1), allSamples({ ...good, ...change }));
  };
  const inputs = (value: number) => good.inputs.map((x, n) => (n === 7 ? value : x));

  it.each<[string, LossName, Partial<Dataset>]>([
    ['line: input 1 of example 2 is NaN; remove the example', 'binaryCrossEntropy', { inputs: inputs(Number.NaN) }],
    [
      'input 1 of example 2 is Infinity',
      'mse',
      { inputs: inputs(Number.POSITIVE_INFINITY), labels: new Float32Array(120) },
    ],
    ['example 0 has the label NaN', 'mse', { labels: new Float32Array(120).fill(Number.NaN) }],
    [
      'example 0 has the label 0.5, which is not a class from 0 to 1',
      'binaryCrossEntropy',
      { labels: new Float32Array(120).fill(0.5) },
    ],
    ['there are 5 classes, but for binaryCrossEntropy distinguishes only 2', 'binaryCrossEntropy', { classes: 5 }],
    ['there are 360 inputs, but 4 labels need 3 inputs each', 'mse', { labels: new Float32Array(4) }],
    ['examples are 1 x 1 x 2, but for mse takes 1 x 1 x 3', 'mse', { shape: { height: 1, width: 1, channels: 2 } }],
  ])('%s', (sentence, loss, change) => {
    expect(train(change, loss)).toThrow(sentence);
  });

  it.each(['mse', 'binaryCrossEntropy'] as const)('%s takes one output', (loss) => {
    expect(() => createTrainer(createReferenceBackend(modelOf(loss, 3), { loss }))).toThrow(
      'end the network with dense(1)',
    );
  });
});
