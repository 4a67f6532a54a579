/** Models and curves for the tools of others: what their formats say is what our backend computes. */
import { describe, expect, it } from 'vitest';
import { csvOf, encodeOnnx } from '../src/files.ts';
import {
  conv2d,
  createReferenceBackend,
  defineModel,
  dense,
  dropout,
  flatten,
  groupNorm,
  initialParameters,
  logisticRegression,
  type Model,
  maxPool,
  relu,
  sigmoid,
  softmax,
  wordsOf,
} from '../src/index.ts';
import { permute } from '../src/model/permute.ts';
import { runOnnx } from './onnx-run.ts';

const EXAMPLES = 2;
const image = { height: 9, width: 7, channels: 2 };
const vector = { height: 1, width: 1, channels: 12 };

/** Every layer, every change of layout, windows that overlap, stand apart and reach over the edge. */
const MODELS: readonly Model[] = [
  logisticRegression(),
  defineModel('rows', vector, [dense(16), relu, dropout(0.1), dense(3)]),
  defineModel('windows', image, [conv2d(4, 3, { stride: 2, padding: 1 }), relu, maxPool(2), flatten, dense(5)]),
  defineModel('edges', image, [groupNorm(2), maxPool(3, { stride: 1, padding: 1 }), flatten, dense(5), sigmoid]),
  defineModel('back and forth', vector, [dense(12), groupNorm(3), conv2d(8, 1), sigmoid, flatten, dense(8), softmax]),
  defineModel('shared', vector, [dense(12, { name: 'one' }), relu, dense(12, { name: 'one' })]),
  defineModel('softmax of an image', image, [softmax, conv2d(3, 3), flatten, dense(2)]),
  defineModel('one pixel is left', { height: 3, width: 3, channels: 2 }, [conv2d(4, 3)]),
];

describe('ONNX', () => {
  it.each(MODELS.map((model) => [model.name, model] as const))('computes what our backend computes: %s', (_, model) => {
    const parameters = initialParameters(model, 3).map((value, n) => value + 0.01 * Math.sin(n));
    const inputs = Float32Array.from({ length: EXAMPLES * wordsOf(model.input) }, (__, n) => Math.sin(1 + 0.37 * n));
    const backend = createReferenceBackend(model);
    backend.setParameters(parameters);
    backend.inputs.set(inputs);
    backend.run(EXAMPLES);
    const { output } = runOnnx(encodeOnnx(model, parameters), EXAMPLES, inputs);
    expect(output.shape).toEqual([EXAMPLES, model.classes]);
    for (const [n, value] of output.values.entries()) expect(value).toBeCloseTo(backend.outputs[n] as number, 5);
  });

  it('takes examples in the layout of our data: rows of words, or images with channels last', () => {
    const shapeOf = (model: Model) => {
      const inputs = new Float32Array(wordsOf(model.input));
      return runOnnx(encodeOnnx(model, initialParameters(model, 1)), 1, inputs).inputShape;
    };
    expect(MODELS.slice(0, 3).map(shapeOf)).toEqual([[28, 28, 1], [12], [9, 7, 2]]);
  });

  it('is not written for a network whose layers belong to another library', () => {
    const foreign = { ...logisticRegression(), layers: [] };
    expect(() => encodeOnnx(foreign, new Float32Array(7850))).toThrow('whose layers are not known here');
  });

  it('is not written for parameters that do not fit the model', () => {
    expect(() => encodeOnnx(logisticRegression(), new Float32Array(7))).toThrow('7850 parameters, got 7');
  });
});

describe('CSV', () => {
  it('has every column that any row has, quotes if necessary, and leaves missing values empty', () => {
    const rows = [
      { version: 1, note: 'a "b", c' },
      { version: 2, loss: 0.5, note: undefined },
    ];
    expect(csvOf(rows)).toBe('version,note,loss\r\n1,"a ""b"", c",\r\n2,,0.5\r\n');
  });
});

it('a tensor with its axes in another order has each value where both orders say', () => {
  const values = Float32Array.from({ length: 24 }, (_, n) => n);
  const turned = permute(values, [2, 3, 4], [2, 0, 1]);
  for (let a = 0; a < 2; a++)
    for (let b = 0; b < 3; b++)
      for (let c = 0; c < 4; c++) expect(turned[(c * 2 + a) * 3 + b]).toBe(values[(a * 3 + b) * 4 + c]);
});
