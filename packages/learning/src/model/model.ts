/** A resolved network: the shape before and after each layer, and the place of its parameters in the flat vector. */
import { canonicalJson } from './canonical-json.ts';
import type { Layer } from './layers.ts';

/** One image, or a vector as 1 x 1 x channels. Words are in this order: NHWC. */
export interface Shape {
  readonly height: number;
  readonly width: number;
  readonly channels: number;
}

/** One tensor of the flat parameter vector. Weights are [outputs, ...inputs], windows row by row, channels last. */
export interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly offset: number;
  readonly length: number;
  /** The number of words that feed one output: fixes the range of the initial values. */
  readonly fanIn: number;
}

export interface ModelLayer {
  readonly layer: Layer;
  readonly input: Shape;
  readonly output: Shape;
  /** Weights (or scales) and biases (or shifts), if the layer has any. */
  readonly tensors?: { readonly weight: Tensor; readonly bias: Tensor };
}

export interface Model {
  readonly name: string;
  readonly input: Shape;
  readonly layers: readonly ModelLayer[];
  /** The complete architecture of the network as lines of canonical JSON: one line for each layer, or one for all. */
  readonly architecture: readonly string[];
  readonly manifest: readonly Tensor[];
  /** d: the total number of parameters. */
  readonly dimension: number;
  readonly classes: number;
}

/** Follows the shapes through the list and lays the parameters out in its order; throws if the layers do not fit together. */
export function defineModel(name: string, input: Shape, layers: readonly Layer[]): Model {
  const manifest: Tensor[] = [];
  const resolved: ModelLayer[] = [];
  let shape = input;
  for (const [index, layer] of layers.entries()) {
    const place = `layer ${index} (${layer.kind}) of ${name}`;
    const output = outputShape(layer, shape, place);
    const tensors = tensorsOf(layer, shape, index, manifest, place);
    resolved.push({ layer, input: shape, output, ...(tensors && { tensors }) });
    shape = output;
  }
  const last = manifest.at(-1);
  if (last === undefined) throw new RangeError(`${name} has no parameters`);
  if (shape.height * shape.width !== 1) throw new RangeError(`${name} ends in an image, not in one word per class`);
  return {
    name,
    input,
    layers: resolved,
    architecture: layers.map(canonicalJson),
    manifest,
    dimension: last.offset + last.length,
    classes: shape.channels,
  };
}

export function wordsOf({ height, width, channels }: Shape): number {
  return height * width * channels;
}

function outputShape(layer: Layer, input: Shape, place: string): Shape {
  switch (layer.kind) {
    case 'conv2d':
      if (layer.padding >= layer.window) throw new RangeError(`${place}: padding must be below the window`);
      return { ...slide(layer, input, place), channels: whole(layer.outputs, 'outputs', place) };
    case 'maxPool':
      if (layer.padding >= layer.window) throw new RangeError(`${place}: padding must be below the window`);
      return { ...slide(layer, input, place), channels: input.channels };
    case 'dense':
      if (input.height * input.width !== 1) throw new RangeError(`${place}: flatten the image first`);
      return { height: 1, width: 1, channels: whole(layer.outputs, 'outputs', place) };
    case 'flatten':
      return { height: 1, width: 1, channels: wordsOf(input) };
    case 'groupNorm':
      if (input.channels % whole(layer.groups, 'groups', place) !== 0) {
        throw new RangeError(`${place}: ${layer.groups} groups do not divide ${input.channels} channels`);
      }
      if (!(layer.epsilon > 0)) throw new RangeError(`${place}: epsilon must be positive`);
      return input;
    case 'dropout':
      if (!(layer.rate >= 0 && layer.rate < 1)) throw new RangeError(`${place}: rate must be in [0, 1)`);
      return input;
    default:
      return input;
  }
}

interface Window {
  readonly window: number;
  readonly stride: number;
  readonly padding: number;
}

function slide({ window, stride, padding }: Window, input: Shape, place: string): { height: number; width: number } {
  whole(window, 'window', place);
  whole(stride, 'stride', place);
  whole(padding + 1, 'padding + 1', place);
  const along = (size: number): number => Math.floor((size + 2 * padding - window) / stride) + 1;
  const height = along(input.height);
  const width = along(input.width);
  if (height < 1 || width < 1) throw new RangeError(`${place}: the window is larger than the image`);
  return { height, width };
}

function whole(value: number, what: string, place: string): number {
  if (!Number.isInteger(value) || value < 1) throw new RangeError(`${place}: ${what} must be a positive integer`);
  return value;
}

function tensorsOf(
  layer: Layer,
  input: Shape,
  index: number,
  manifest: Tensor[],
  place: string,
): ModelLayer['tensors'] {
  const shape = weightShape(layer, input);
  if (shape === undefined) return undefined;
  const given = 'name' in layer ? layer.name : undefined;
  const name = given ?? `${layer.kind}${index}`;
  const shared = manifest.find((tensor) => tensor.name === `${name}.weight`);
  if (shared !== undefined) {
    const bias = manifest.find((tensor) => tensor.name === `${name}.bias`);
    if (bias === undefined || String(shared.shape) !== String(shape)) {
      throw new RangeError(`${place}: shares the name ${name} with a layer of another shape`);
    }
    return { weight: shared, bias };
  }
  const fanIn = shape.slice(1).reduce((product, size) => product * size, 1);
  const weight = append(manifest, `${name}.weight`, shape, fanIn);
  const bias = append(manifest, `${name}.bias`, shape.slice(0, 1), fanIn);
  return { weight, bias };
}

function weightShape(layer: Layer, input: Shape): readonly number[] | undefined {
  if (layer.kind === 'conv2d') return [layer.outputs, layer.window, layer.window, input.channels];
  if (layer.kind === 'dense') return [layer.outputs, input.channels];
  return layer.kind === 'groupNorm' ? [input.channels] : undefined;
}

function append(manifest: Tensor[], name: string, shape: readonly number[], fanIn: number): Tensor {
  const previous = manifest.at(-1);
  const offset = previous === undefined ? 0 : previous.offset + previous.length;
  const length = shape.reduce((product, size) => product * size, 1);
  const tensor = { name, shape, offset, length, fanIn };
  manifest.push(tensor);
  return tensor;
}
