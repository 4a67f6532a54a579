import { BACKENDS, wasmBackend } from '@basa/testkit/core/backends.ts';
import { describe, expect, it } from 'vitest';
import {
  allSamples,
  conv2d,
  createTrainer,
  type Dataset,
  defineModel,
  dense,
  dropout,
  flatten,
  groupNorm,
  initialParameters,
  logisticRegression,
  type Model,
  manifestText,
  maxPool,
  randomStream,
  relu,
  sigmoid,
  type Trainer,
  type TrainRequest,
} from '../src/index.ts';

const shape = { height: 6, width: 6, channels: 2 };
const model = defineModel('small', shape, [
  conv2d(4, 3, { padding: 1 }),
  groupNorm(2),
  relu,
  maxPool(2),
  dropout(0.25),
  flatten,
  dense(3),
]);

/** Three classes, each bright in its own corner: easy to learn. */
function corners(count: number): Dataset {
  const random = randomStream(9, 'corners');
  const labels = Int32Array.from({ length: count }, () => random.below(3));
  const inputs = Uint8Array.from({ length: count * 72 }, (_, n) => {
    const [label, pixel] = [labels[Math.floor(n / 72)], Math.floor((n % 72) / 2)];
    const corner = (pixel % 6 >= 3 ? 1 : 0) + (pixel >= 18 ? 2 : 0);
    return corner === label ? 200 + random.below(50) : random.below(60);
  });
  return { name: 'corners', shape, classes: 3, inputs, labels, normal: { mean: [0.3, 0.2], deviation: [0.5, 0.4] } };
}

const data = corners(90);
const request = (trainer: Trainer): TrainRequest => ({
  start: trainer.init(1),
  samples: allSamples(data),
  epochs: 3,
  batchSize: 16,
  learningRate: 0.1,
  momentum: 0.5,
  seed: 4,
});

describe.each(Object.keys(BACKENDS))('a trainer over the %s backend', (name) => {
  const make = (of: Model = model): Trainer => createTrainer((BACKENDS[name] as (typeof BACKENDS)[string])(of, 16));

  it('learns a learnable task, and reports its progress', () => {
    const trainer = make();
    const start = trainer.init(1);
    const before = trainer.evaluate(start, allSamples(data));
    const { delta, loss, samples } = trainer.train({ ...request(trainer), epochs: 12 });
    const after = trainer.evaluate(
      start.map((w, n) => w - (delta[n] as number)),
      allSamples(data),
    );
    expect(before.accuracy).toBeLessThan(0.6);
    expect(after.accuracy).toBeGreaterThan(0.95);
    expect(after.loss).toBeLessThan(loss);
    expect([samples, after.samples]).toEqual([12 * 90, 90]);
  });

  it('gives the same bits for the same seed regardless of earlier calls, and others for another seed', () => {
    const trainer = make();
    const once = trainer.train(request(trainer));
    trainer.train({ ...request(trainer), seed: 99, momentum: 0.9 });
    expect(trainer.train(request(trainer))).toEqual(once);
    expect(make().train(request(trainer))).toEqual(once);
    expect(trainer.train({ ...request(trainer), seed: 5 }).delta).not.toEqual(once.delta);
  });

  it('takes steps as well as epochs: 6 batches of 16 are one epoch of 90', () => {
    const trainer = make();
    const { epochs: _, ...rest } = request(trainer);
    expect(trainer.train({ ...rest, steps: 6 })).toEqual(trainer.train({ ...rest, epochs: 1 }));
    expect(trainer.train({ ...rest, steps: 2 }).samples).toBe(32);
  });

  it('learns a batch that is larger than its capacity in parts, with the same gradient', () => {
    const plain = defineModel('plain', shape, [flatten, dense(3)]);
    const [small, large] = [16, 64].map((capacity) =>
      createTrainer((BACKENDS[name] as (typeof BACKENDS)[string])(plain, capacity)).train({
        ...request(make(plain)),
        batchSize: 40,
      }),
    );
    expect(small?.samples).toBe(large?.samples);
    expect(small?.loss).toBeCloseTo(large?.loss ?? 0, 5);
    small?.delta.forEach((value, n) => {
      expect(value).toBeCloseTo(large?.delta[n] ?? 0, 5);
    });
  });

  it('clips a long gradient to its norm', () => {
    const trainer = make();
    const plain = { ...request(trainer), epochs: undefined, steps: 1, momentum: 0, learningRate: 1 };
    const { epochs: _, ...one } = plain;
    const length = Math.hypot(...trainer.train({ ...one, clipNorm: 0.01 }).delta);
    expect(length).toBeCloseTo(0.01, 6);
    expect(Math.hypot(...trainer.train(one).delta)).toBeGreaterThan(0.1);
  });

  it('shrinks weights that get no gradient only by the decay', () => {
    const linear = logisticRegression();
    const trainer = make(linear);
    const blank = { ...data, shape: linear.input, classes: 10, inputs: new Uint8Array(784), labels: Int32Array.of(3) };
    const { normal: _, ...dataset } = blank;
    const start = trainer.init(2);
    const samples = allSamples(dataset);
    const { delta } = trainer.train({
      start,
      samples,
      steps: 1,
      batchSize: 1,
      learningRate: 0.5,
      weightDecay: 0.2,
      seed: 1,
    });
    expect(delta[100]).toBeCloseTo(0.1 * (start[100] as number), 7);
  });

  it.each([
    ['batchSize', { batchSize: 2.5 }],
    ['batchSize', { batchSize: 0 }],
    ['parameters', { start: new Float32Array(3) }],
    ['epochs or steps', { epochs: 0 }],
    ['not both', { steps: 3 }],
    ['learningRate', { learningRate: Number.NaN }],
    ['momentum', { momentum: -1 }],
    ['clipNorm', { clipNorm: 0 }],
    ['a client without samples', { samples: { dataset: data, indices: new Uint32Array() } }],
    ['no example 90', { samples: { dataset: data, indices: Uint32Array.of(90) } }],
    ['small takes 6 x 6 x 2', { samples: allSamples({ ...data, shape: { ...shape, channels: 1 } }) }],
    [
      'has the label 3, which is not a class from 0 to 2',
      { samples: allSamples({ ...data, labels: new Int32Array(90).fill(3) }) },
    ],
    ['small distinguishes only 3', { samples: allSamples({ ...data, classes: 4 }) }],
  ])('refuses a request with a wrong %s', (problem, change) => {
    const trainer = make();
    expect(() => trainer.train({ ...request(trainer), ...change })).toThrow(problem);
  });
});

describe('the wasm backend', () => {
  it('agrees with the reference backend after three epochs to single precision', () => {
    const [fast, slow] = Object.values(BACKENDS).map((make) => {
      const trainer = createTrainer(make(model, 16));
      return trainer.train(request(trainer));
    });
    const worst = fast?.delta.reduce((most, value, n) => Math.max(most, Math.abs(value - (slow?.delta[n] ?? 0))), 0);
    expect(worst).toBeLessThan(2e-5);
    expect(Math.abs((fast?.loss ?? 0) - (slow?.loss ?? 1))).toBeLessThan(1e-5);
  });

  it('does not change its inputs, with any first layer', () => {
    for (const first of [relu, sigmoid, dropout(0.5)]) {
      const backend = wasmBackend(
        defineModel('in place', shape, [flatten, first, dropout(0.5), sigmoid, relu, dense(3)]),
        4,
      );
      backend.setParameters(initialParameters(backend.model, 1));
      backend.inputs.fill(-0.5);
      backend.learn(4, randomStream(1));
      expect(backend.inputs.every((value) => value === -0.5)).toBe(true);
    }
  });

  it('floats and bytes of the same values train to the same bits', () => {
    const { normal: _, ...raw } = data;
    const floats = { ...raw, inputs: Float32Array.from(raw.inputs as Uint8Array, (byte) => byte / 255) };
    const [one, two] = [raw, floats].map((dataset) => {
      const trainer = createTrainer(wasmBackend(model, 16));
      return trainer.train({ ...request(trainer), samples: allSamples(dataset) }).delta;
    });
    expect(two).toEqual(one);
  });
});

describe('models', () => {
  it('initial values are the same for a seed, differ between seeds, and stay within 1 / sqrt(fan in)', () => {
    const values = initialParameters(model, 1);
    expect(initialParameters(model, 1)).toEqual(values);
    expect(initialParameters(model, 2)).not.toEqual(values);
    const [weight] = model.manifest;
    expect(Math.max(...values.subarray(0, weight?.length).map(Math.abs))).toBeLessThanOrEqual(1 / Math.sqrt(18));
    expect([...values.subarray(76, 84)]).toEqual([1, 1, 1, 1, 0, 0, 0, 0]); // the norm's scale and shift
  });

  it('the manifest names the input, every layer with its hyper-parameters, and every tensor with shape and offset', () => {
    expect(manifestText(model)).toBe(
      [
        'basa-manifest-2',
        'd 195',
        'input 6x6x2',
        '{"kind":"conv2d","outputs":4,"padding":1,"stride":1,"window":3}',
        '{"epsilon":0.00001,"groups":2,"kind":"groupNorm"}',
        '{"kind":"relu"}',
        '{"kind":"maxPool","padding":0,"stride":2,"window":2}',
        '{"kind":"dropout","rate":0.25}',
        '{"kind":"flatten"}',
        '{"kind":"dense","outputs":3}',
        '["conv2d0.weight",[4,3,3,2],0]',
        '["conv2d0.bias",[4],72]',
        '["groupNorm1.weight",[4],76]',
        '["groupNorm1.bias",[4],80]',
        '["dense6.weight",[3,36],84]',
        '["dense6.bias",[3],192]',
        '',
      ].join('\n'),
    );
  });

  it.each<[string, Parameters<typeof defineModel>[2]]>([
    ['another activation', [conv2d(4, 3, { padding: 1 }), sigmoid, maxPool(2), flatten, dense(3)]],
    ['none', [conv2d(4, 3, { padding: 1 }), maxPool(2), flatten, dense(3)]],
    ['one more', [conv2d(4, 3, { padding: 1 }), relu, maxPool(2), flatten, relu, dense(3)]],
    ['a dropout', [conv2d(4, 3, { padding: 1 }), relu, maxPool(2), dropout(0.999), flatten, dense(3)]],
    ['another pooling', [conv2d(4, 3, { padding: 1 }), relu, maxPool(1, { stride: 2 }), flatten, dense(3)]],
    ['other strides and padding', [conv2d(4, 3, { stride: 2, padding: 1 }), relu, flatten, dense(3)]],
  ])('a network of the same tensors that computes something else has another manifest: %s', (_, layers) => {
    const plain = defineModel('plain', shape, [conv2d(4, 3, { padding: 1 }), relu, maxPool(2), flatten, dense(3)]);
    const other = defineModel('plain', shape, layers);
    expect(other.manifest.map(({ shape: tensor }) => tensor)).toEqual(
      plain.manifest.map(({ shape: tensor }) => tensor),
    );
    expect(manifestText(other)).not.toBe(manifestText(plain));
  });

  it('the manifest does not hang on the order of a layer’s keys, and holds nothing but ASCII', () => {
    const [one, other] = [
      { kind: 'dense', outputs: 3, name: 'größe\nx' } as const,
      { name: 'größe\nx', outputs: 3, kind: 'dense' } as const,
    ].map((layer) => manifestText(defineModel('m', shape, [flatten, layer])));
    expect(other).toBe(one);
    expect(one).toContain('"name":"gr\\u00f6\\u00dfe\\nx"');
  });

  it.each([
    ['flatten the image first', [dense(3)]],
    ['window is larger', [conv2d(3, 7)]],
    ['3 groups do not divide 2 channels', [groupNorm(3)]],
    ['epsilon must be positive', [groupNorm(2, { epsilon: Number.NaN })]],
    ['cannot be written as JSON', [groupNorm(2, { epsilon: Number.POSITIVE_INFINITY }), flatten, dense(3)]],
    ['rate must be in [0, 1)', [dropout(1)]],
    ['padding must be below the window', [maxPool(2, { padding: 2 })]],
    ['positive integer', [conv2d(0, 3)]],
    ['ends in an image', [conv2d(3, 3)]],
    ['has no parameters', [flatten]],
    ['of another shape', [conv2d(3, 3, { name: 'a' }), conv2d(3, 3, { name: 'a' })]],
  ])('an impossible list of layers is rejected: %s', (problem, layers) => {
    expect(() => defineModel('wrong', shape, layers)).toThrow(problem);
  });
});
