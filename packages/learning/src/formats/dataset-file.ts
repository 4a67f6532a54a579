/** Labelled examples as a safetensors file: `inputs` and `labels` (classes, or floats), with classes and normalisation in the metadata. */

import type { Dataset } from '../data/samples.ts';
import { ModelFileError, openTensorFile, writeTensorFile } from './safetensors.ts';

export function encodeDataset({ name, shape, classes, inputs, labels, normal }: Dataset): Uint8Array {
  const { height, width, channels } = shape;
  const tensors = [
    {
      name: 'inputs',
      dtype: inputs instanceof Float32Array ? 'F32' : 'U8',
      shape: [labels.length, height, width, channels],
      bytes: bytesOf(inputs),
    },
    labels instanceof Float32Array
      ? { name: 'labels', dtype: 'F32', shape: [labels.length], bytes: bytesOf(labels) }
      : { name: 'labels', dtype: 'I32', shape: [labels.length], bytes: bytesOf(Int32Array.from(labels)) },
  ];
  return writeTensorFile(tensors, {
    name,
    classes: String(classes),
    ...(normal && { normal: JSON.stringify(normal) }),
  });
}

/** Throws `ModelFileError`, which names the fault. */
export function decodeDataset(bytes: Uint8Array): Dataset {
  const file = openTensorFile(bytes);
  const inputs = file.tensor('inputs', { F32: 4, U8: 1 });
  const labels = file.tensor('labels', { I32: 4, F32: 4 });
  const [count, height = 0, width = 0, channels = 0, ...more] = inputs.shape;
  if (more.length > 0 || channels === 0) throw new ModelFileError('inputs are not [examples, height, width, channels]');
  if (labels.shape.length !== 1 || labels.shape[0] !== count) throw new ModelFileError('not one label for each input');
  const classes = Number(file.metadata['classes']);
  if (!Number.isSafeInteger(classes) || classes < 1) throw new ModelFileError('the metadata name no classes');
  const { buffer } = copyOf(labels.bytes);
  const values = labels.dtype === 'F32' ? new Float32Array(buffer) : new Int32Array(buffer);
  const isWrong = (label: number): boolean =>
    labels.dtype === 'F32' ? !Number.isFinite(label) : label < 0 || label >= classes;
  const wrong = values.findIndex(isWrong);
  if (wrong >= 0) throw new ModelFileError(`example ${wrong} has the label ${values[wrong]} of ${classes} classes`);
  const { name, normal } = file.metadata;
  return {
    name: typeof name === 'string' ? name : 'examples',
    shape: { height, width, channels },
    classes,
    inputs: inputs.dtype === 'U8' ? copyOf(inputs.bytes) : new Float32Array(copyOf(inputs.bytes).buffer),
    labels: values,
    ...(typeof normal === 'string' && { normal: readNormal(normal, channels) }),
  };
}

/** `slice` of a Node Buffer would be a view into memory that others share. */
function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

/** Words are little-endian on every machine this runs on, because wasm knows no other order. */
function bytesOf(words: Uint8Array | Float32Array | Int32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

function readNormal(text: string, channels: number): NonNullable<Dataset['normal']> {
  const isNumbers = (value: unknown): value is number[] =>
    Array.isArray(value) && value.length === channels && value.every(Number.isFinite);
  try {
    const { mean, deviation } = JSON.parse(text) as { readonly mean?: unknown; readonly deviation?: unknown };
    if (isNumbers(mean) && isNumbers(deviation) && deviation.every((d) => d > 0)) return { mean, deviation };
  } catch {
    // The error is thrown below.
  }
  throw new ModelFileError('the normalisation is not one mean and one positive deviation for each channel');
}
