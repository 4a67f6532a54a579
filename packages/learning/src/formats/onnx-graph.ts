/** A network as nodes of ONNX (operators of opset 13), for inference: dropout is left out. */
import type { Model, ModelLayer, Shape, Tensor } from '../model/model.ts';
import { permute } from '../model/permute.ts';

export type OnnxAttribute = number | readonly number[] | { readonly float: number };

export interface OnnxNode {
  readonly operator: string;
  readonly inputs: readonly string[];
  readonly output: string;
  readonly attributes: Readonly<Record<string, OnnxAttribute>>;
}

/** A constant of the graph: floats, or integers for a shape. */
export interface OnnxConstant {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: Float32Array | readonly number[];
}

export interface OnnxGraph {
  readonly nodes: readonly OnnxNode[];
  readonly constants: readonly OnnxConstant[];
  /** The shape of one example, without the batch. */
  readonly inputShape: readonly number[];
}

/** Examples come in rows. Images have the layout of our data, or the layout that ONNX operators need. */
type Layout = 'rows' | 'nhwc' | 'nchw';

const WINDOWED: ReadonlySet<string> = new Set(['conv2d', 'maxPool', 'groupNorm']);

export function onnxGraph(model: Model, parameters: Float32Array): OnnxGraph {
  return new GraphWriter(model, parameters).write();
}

class GraphWriter {
  readonly #model: Model;
  readonly #parameters: Float32Array;
  readonly #nodes: OnnxNode[] = [];
  readonly #constants = new Map<string, OnnxConstant>();
  #layout: Layout;
  #value = 'input';

  constructor(model: Model, parameters: Float32Array) {
    this.#model = model;
    this.#parameters = parameters;
    const { height, width } = model.input;
    const hasImages = height * width > 1 || model.layers.some(({ layer }) => WINDOWED.has(layer.kind));
    this.#layout = hasImages ? 'nhwc' : 'rows';
  }

  write(): OnnxGraph {
    const { input, layers } = this.#model;
    const { height, width, channels } = input;
    const inputShape = this.#layout === 'rows' ? [channels] : [height, width, channels];
    let shape = input;
    for (const entry of layers) {
      this.#layer(entry);
      shape = entry.output;
    }
    this.#to('rows', shape);
    const last = this.#nodes.pop() as OnnxNode; // there is always one, because a model has parameters
    return {
      nodes: [...this.#nodes, { ...last, output: 'output' }],
      constants: [...this.#constants.values()],
      inputShape,
    };
  }

  #layer(entry: ModelLayer): void {
    const { layer, input } = entry;
    switch (layer.kind) {
      case 'conv2d':
        this.#to('nchw', input);
        this.#add('Conv', this.#weights(entry, [0, 3, 1, 2]), windowOf(layer));
        break;
      case 'maxPool':
        this.#to('nchw', input);
        this.#add('MaxPool', [], windowOf(layer));
        break;
      case 'groupNorm':
        this.#to('nchw', input);
        this.#groupNorm(entry, layer.groups, layer.epsilon);
        break;
      case 'dense':
        this.#to('rows', input);
        this.#add('Gemm', this.#weights(entry), { transB: 1 });
        break;
      case 'flatten':
        this.#to('rows', input);
        break;
      case 'softmax':
        this.#to('rows', input); // over all words of an example
        this.#add('Softmax', [], { axis: 1 });
        break;
      case 'relu':
        this.#add('Relu');
        break;
      case 'sigmoid':
        this.#add('Sigmoid');
        break;
      case 'dropout':
        break;
    }
  }

  /** Each group is one channel of an instance normalisation; scales and shifts belong to the channels. */
  #groupNorm({ input, tensors }: ModelLayer, groups: number, epsilon: number): void {
    const { height, width, channels } = input;
    const ones = this.#constant(`ones${groups}`, [groups], new Float32Array(groups).fill(1));
    const zeros = this.#constant(`zeros${groups}`, [groups], new Float32Array(groups));
    this.#reshape([0, groups, -1]);
    this.#add('InstanceNormalization', [ones, zeros], { epsilon: { float: epsilon } });
    this.#reshape([0, channels, height, width]);
    const { weight, bias } = tensors as { weight: Tensor; bias: Tensor };
    this.#add('Mul', [this.#constant(weight.name, [channels, 1, 1], this.#valuesOf(weight))]);
    this.#add('Add', [this.#constant(bias.name, [channels, 1, 1], this.#valuesOf(bias))]);
  }

  /** `shape` is the current shape of the value. */
  #to(layout: Layout, shape: Shape): void {
    const { height, width, channels } = shape;
    while (this.#layout !== layout) {
      if (this.#layout === 'rows') {
        this.#reshape([-1, height, width, channels]);
        this.#layout = 'nhwc';
      } else if (this.#layout === 'nchw') {
        this.#add('Transpose', [], { perm: [0, 2, 3, 1] });
        this.#layout = 'nhwc';
      } else if (layout === 'nchw') {
        this.#add('Transpose', [], { perm: [0, 3, 1, 2] });
        this.#layout = 'nchw';
      } else {
        this.#add('Flatten', [], { axis: 1 });
        this.#layout = 'rows';
      }
    }
  }

  #reshape(shape: readonly number[]): void {
    this.#add('Reshape', [this.#constant(`shape ${shape.join(' ')}`, [shape.length], shape)]);
  }

  #add(operator: string, constants: readonly string[] = [], attributes: OnnxNode['attributes'] = {}): void {
    const output = `value${this.#nodes.length}`;
    this.#nodes.push({ operator, inputs: [this.#value, ...constants], output, attributes });
    this.#value = output;
  }

  #weights({ tensors }: ModelLayer, order?: readonly number[]): string[] {
    const { weight, bias } = tensors as { weight: Tensor; bias: Tensor };
    const values = this.#valuesOf(weight);
    const turned = order === undefined ? values : permute(values, weight.shape, order);
    const shape = order?.map((axis) => weight.shape[axis] as number) ?? weight.shape;
    return [this.#constant(weight.name, shape, turned), this.#constant(bias.name, bias.shape, this.#valuesOf(bias))];
  }

  #valuesOf({ offset, length }: Tensor): Float32Array {
    return this.#parameters.subarray(offset, offset + length);
  }

  /** Layers that share their parameters share the constant. */
  #constant(name: string, shape: readonly number[], values: OnnxConstant['values']): string {
    this.#constants.set(name, { name, shape, values });
    return name;
  }
}

function windowOf({
  window,
  stride,
  padding,
}: {
  window: number;
  stride: number;
  padding: number;
}): OnnxNode['attributes'] {
  return {
    kernel_shape: [window, window],
    strides: [stride, stride],
    pads: [padding, padding, padding, padding],
  };
}
