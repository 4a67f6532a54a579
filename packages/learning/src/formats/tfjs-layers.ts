/** A model in the layers format of TensorFlow.js: `tf.loadLayersModel` reads model.json and the weights file in the same folder. */

import { checkFits, checkLayersKnown } from '../model/fits.ts';
import type { Layer } from '../model/layers.ts';
import type { Model, ModelLayer, Shape, Tensor } from '../model/model.ts';
import { permute } from '../model/permute.ts';
import { f32, joinBytes } from './bytes.ts';

export interface TfjsFiles {
  readonly modelJson: string;
  /** The file that model.json names. */
  readonly weights: { readonly name: string; readonly bytes: Uint8Array };
}

interface KerasLayer {
  readonly class_name: string;
  readonly config: Readonly<Record<string, unknown>>;
}

interface KerasWeight {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

const WEIGHTS_FILE = 'weights.bin';

/** Throws a `RangeError` that names the layer which TensorFlow.js does not have. */
export function encodeTfjsLayers(model: Model, parameters: Float32Array): TfjsFiles {
  checkFits(model, parameters);
  checkLayersKnown(model);
  const { layers, weights } = new KerasWriter(model, parameters);
  const [first, ...rest] = layers;
  const { height, width, channels } = model.input;
  const shape = isImage(model) ? [null, height, width, channels] : [null, channels];
  const entry = { class_name: 'InputLayer', config: { name: 'input', batch_input_shape: shape, dtype: 'float32' } };
  return {
    modelJson: JSON.stringify({
      format: 'layers-model',
      generatedBy: 'basa',
      convertedBy: null,
      modelTopology: {
        keras_version: 'tfjs-layers 4',
        backend: 'tensor_flow.js',
        model_config: { class_name: 'Sequential', config: { name: 'model', layers: [entry, first, ...rest] } },
      },
      weightsManifest: [
        { paths: [WEIGHTS_FILE], weights: weights.map(({ name, shape }) => ({ name, shape, dtype: 'float32' })) },
      ],
    }),
    weights: { name: WEIGHTS_FILE, bytes: joinBytes(weights.map(({ values }) => f32(values))) },
  };
}

function isImage({ input, layers }: Model): boolean {
  return (
    input.height * input.width > 1 || layers.some(({ layer }) => layer.kind === 'conv2d' || layer.kind === 'maxPool')
  );
}

class KerasWriter {
  readonly #parameters: Float32Array;
  readonly layers: KerasLayer[] = [];
  readonly weights: KerasWeight[] = [];
  #isRows: boolean;

  constructor(model: Model, parameters: Float32Array) {
    this.#parameters = parameters;
    this.#isRows = !isImage(model);
    let before: Layer['kind'] | undefined;
    for (const [index, entry] of model.layers.entries()) {
      this.#layer(entry, index, before);
      if (entry.layer.kind !== 'dropout') before = entry.layer.kind;
    }
    this.#toRows();
  }

  #layer(entry: ModelLayer, index: number, before: Layer['kind'] | undefined): void {
    const { layer, input } = entry;
    const place = `layer ${index} (${layer.kind})`;
    switch (layer.kind) {
      case 'conv2d':
        this.#toImage(input);
        this.#pad(layer.padding);
        this.#withWeights('Conv2D', entry, index, [1, 2, 3, 0], {
          filters: layer.outputs,
          kernel_size: [layer.window, layer.window],
          strides: [layer.stride, layer.stride],
          padding: 'valid',
          data_format: 'channels_last',
        });
        break;
      case 'maxPool':
        this.#toImage(input);
        // The frame is made of zeros, and a zero is never larger than the output of a relu.
        if (layer.padding > 0 && before !== 'relu') {
          throw new RangeError(`${place}: TensorFlow.js has no padding of this kind, except behind a relu`);
        }
        this.#pad(layer.padding);
        this.#add('MaxPooling2D', {
          pool_size: [layer.window, layer.window],
          strides: [layer.stride, layer.stride],
          padding: 'valid',
          data_format: 'channels_last',
        });
        break;
      case 'dense':
        this.#toRows();
        this.#withWeights('Dense', entry, index, [1, 0], { units: layer.outputs });
        break;
      case 'flatten':
        this.#toRows();
        break;
      case 'softmax':
        this.#toRows(); // over all words of an example
        this.#add('Activation', { activation: 'softmax' });
        break;
      case 'relu':
      case 'sigmoid':
        this.#add('Activation', { activation: layer.kind });
        break;
      case 'dropout':
        this.#add('Dropout', { rate: layer.rate });
        break;
      case 'groupNorm':
        throw new RangeError(`${place}: TensorFlow.js has no group normalisation; safetensors, npz and onnx do`);
    }
  }

  #toRows(): void {
    if (this.#isRows) return;
    this.#add('Flatten', { data_format: 'channels_last' });
    this.#isRows = true;
  }

  #toImage({ height, width, channels }: Shape): void {
    if (!this.#isRows) return;
    this.#add('Reshape', { target_shape: [height, width, channels] });
    this.#isRows = false;
  }

  #pad(words: number): void {
    if (words === 0) return;
    const sides = [words, words];
    this.#add('ZeroPadding2D', { padding: [sides, sides], data_format: 'channels_last' });
  }

  /** Layers that share their parameters have a copy each: nothing is trained here. */
  #withWeights(kind: string, { tensors }: ModelLayer, index: number, order: readonly number[], config: object): void {
    const { weight, bias } = tensors as { weight: Tensor; bias: Tensor };
    const name = `${weight.name.replace(/\.weight$/, '').replaceAll(/\W/g, '_')}_${index}`;
    this.layers.push({ class_name: kind, config: { ...config, name, activation: 'linear', use_bias: true } });
    const shape = order.map((axis) => weight.shape[axis] as number);
    const values = permute(this.#valuesOf(weight), weight.shape, order);
    this.weights.push(
      { name: `${name}/kernel`, shape, values },
      { name: `${name}/bias`, shape: bias.shape, values: this.#valuesOf(bias) },
    );
  }

  #add(kind: string, config: object): void {
    this.layers.push({ class_name: kind, config: { ...config, name: `${kind.toLowerCase()}_${this.layers.length}` } });
  }

  #valuesOf({ offset, length }: Tensor): Float32Array {
    return this.#parameters.subarray(offset, offset + length);
  }
}
