/** The networks whose gradients were made by PyTorch (make.py): one per layer, and the four models without dropout. */
import {
  conv2d,
  defineModel,
  dense,
  fedmlCifarCnn,
  femnistCnn,
  flatten,
  flsimCnn,
  groupNorm,
  type Layer,
  logisticRegression,
  type Model,
  maxPool,
  relu,
  type Shape,
  sigmoid,
  softmax,
} from '../../src/index.ts';

export interface GoldenCase {
  readonly spec: { readonly name: string; readonly input: Shape; readonly layers: readonly Layer[] };
  readonly batch: number;
}

const image: Shape = { height: 7, width: 6, channels: 5 };
const ending = [flatten, dense(7, { name: 'last' })];

/** print-cases.ts prints this for make.py. */
export function goldenCases(): readonly GoldenCase[] {
  const small = (name: string, ...layers: readonly Layer[]): GoldenCase => ({
    spec: { name, input: image, layers: [...layers, ...ending] },
    batch: 3,
  });
  return [
    small('dense'),
    small('convolution', conv2d(6, 3), conv2d(3, 2)),
    small('padded convolution', conv2d(17, 3, { padding: 2 }), conv2d(4, 5, { padding: 2 })),
    small('strided convolution', conv2d(8, 3, { stride: 2, padding: 1 }), conv2d(5, 2, { stride: 2 })),
    small('relu', conv2d(4, 3), relu),
    small('max pool', conv2d(6, 2), maxPool(2)),
    small('overlapping max pool', conv2d(6, 2, { padding: 1 }), maxPool(3, { stride: 2, padding: 1 })),
    small('group norm', conv2d(6, 2), groupNorm(3), relu),
    small(
      'instance norm, shared',
      conv2d(8, 3, { padding: 1 }),
      groupNorm(8, { name: 'n' }),
      relu,
      conv2d(8, 3),
      groupNorm(8, { name: 'n' }),
    ),
    small('norm first', groupNorm(1), conv2d(2, 3)),
    { spec: { name: 'sigmoid', input: image, layers: [...ending, sigmoid, relu, sigmoid] }, batch: 4 },
    { spec: { name: 'softmax', input: image, layers: [...ending, relu, softmax] }, batch: 4 },
    ...[logisticRegression(), femnistCnn(), fedmlCifarCnn(), flsimCnn()].map((model) => whole(model)),
  ];
}

function whole(model: Model): GoldenCase {
  const layers = model.layers.map(({ layer }) => layer).filter(({ kind }) => kind !== 'dropout');
  return { spec: { name: model.name, input: model.input, layers }, batch: 2 };
}

export function modelOf({ spec }: GoldenCase): Model {
  return defineModel(spec.name, spec.input, spec.layers);
}

/** Numbers in [-0.5, 0.5) with 24 bits, as make.py draws them. */
export function hashed(length: number, salt: number): Float64Array {
  const wrap = (a: number, b: number): number => Math.imul(a, b) >>> 0;
  return Float64Array.from({ length }, (_, index) => {
    let word = (wrap(index, 2_654_435_761) + salt * 40_503) >>> 0;
    word = wrap(word ^ (word >>> 15), 73_244_475);
    word = wrap(word ^ (word >>> 13), 40_503);
    return (word >>> 8) / 16_777_216 - 0.5;
  });
}

/** Parameters by the same formulas: 2 / sqrt(fan in) times the hashed numbers, around 1 for a norm's scale. */
export function goldenParameters(model: Model): Float32Array {
  const parameters = new Float32Array(model.dimension);
  const norms = new Set(
    model.layers.flatMap(({ layer, tensors }) => (layer.kind === 'groupNorm' ? tensors?.weight : [])),
  );
  for (const [order, tensor] of model.manifest.entries()) {
    const centre = norms.has(tensor) ? 1 : 0;
    const numbers = hashed(tensor.length, order + 1);
    parameters.set(
      numbers.map((value) => value * (2 / Math.sqrt(tensor.fanIn)) + centre),
      tensor.offset,
    );
  }
  return parameters;
}

export function goldenInputs(model: Model, batch: number): Float64Array {
  const { height, width, channels } = model.input;
  return hashed(batch * height * width * channels, 977).map((value) => value + 0.5);
}

export function goldenLabels(model: Model, batch: number): Int32Array {
  return Int32Array.from({ length: batch }, (_, row) => (3 + 7 * row) % model.classes);
}
