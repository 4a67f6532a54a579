/** Models as safetensors files (github.com/huggingface/safetensors, format of 0.x): a JSON header, then raw floats. */

import { checkFits } from '../model/fits.ts';
import type { Model } from '../model/model.ts';
import { f32 } from './bytes.ts';
import { utf8, utf8Text } from './text.ts';

/** Thrown for a malformed file; names the place. */
export class ModelFileError extends Error {
  constructor(problem: string) {
    super(`safetensors: ${problem}`);
    this.name = 'ModelFileError';
  }
}

const HEADER_LIMIT_BYTES = 100_000_000; // the format's own bound

interface FileTensor {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

export function encodeSafetensors(
  model: Model,
  parameters: Float32Array,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  checkFits(model, parameters);
  const bytes = f32(parameters);
  const tensors = model.manifest.map(({ name, shape, offset, length }) => ({
    name,
    dtype: 'F32',
    shape,
    bytes: bytes.subarray(4 * offset, 4 * (offset + length)),
  }));
  return writeTensorFile(tensors, metadata);
}

/** Reads the flat vector of `model` from a file that holds all of its tensors, in any order. */
export function decodeSafetensors(model: Model, bytes: Uint8Array): Float32Array {
  const file = openTensorFile(bytes);
  const parameters = new Float32Array(model.dimension);
  for (const { name, shape, offset, length } of model.manifest) {
    const found = file.tensor(name, { F32: 4 }, shape);
    const view = new DataView(found.bytes.buffer, found.bytes.byteOffset);
    for (let n = 0; n < length; n++) parameters[offset + n] = view.getFloat32(4 * n, true);
  }
  return parameters;
}

/** Tensors one after the other behind their header. */
export function writeTensorFile(
  tensors: readonly FileTensor[],
  metadata: Readonly<Record<string, string>>,
): Uint8Array {
  let end = 0;
  const entries = tensors.map(({ name, dtype, shape, bytes }) => {
    const start = end;
    end += bytes.length;
    return [name, { dtype, shape, data_offsets: [start, end] }];
  });
  const text = utf8(JSON.stringify({ __metadata__: { format: 'pt', ...metadata }, ...Object.fromEntries(entries) }));
  const json = new Uint8Array(Math.ceil(text.length / 8) * 8).fill(0x20); // padded with spaces: data stays aligned
  json.set(text);
  const file = new Uint8Array(8 + json.length + end);
  new DataView(file.buffer).setUint32(0, json.length, true);
  file.set(json, 8);
  let at = 8 + json.length;
  for (const { bytes } of tensors) {
    file.set(bytes, at);
    at += bytes.length;
  }
  return file;
}

/** A file whose header was read; `tensor` checks a tensor against the allowed types, given by their bytes per word. */
export interface TensorFile {
  readonly metadata: Readonly<Record<string, unknown>>;
  tensor(name: string, widths: Readonly<Record<string, number>>, shape?: readonly number[]): FileTensor;
}

export function openTensorFile(file: Uint8Array): TensorFile {
  // Node's Buffer slices without copying; plain arrays copy, as documented.
  const bytes = new Uint8Array(file.buffer, file.byteOffset, file.length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (bytes.length < 8) throw new ModelFileError(`${bytes.length} bytes are too few for a header`);
  const headerLength = view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32;
  if (headerLength > HEADER_LIMIT_BYTES || headerLength > bytes.length - 8) {
    throw new ModelFileError(`a header of ${headerLength} bytes does not fit a file of ${bytes.length}`);
  }
  const header = parseHeader(utf8Text(bytes.subarray(8, 8 + headerLength)));
  const data = bytes.subarray(8 + headerLength);
  const { __metadata__: metadata } = header;
  return {
    metadata: typeof metadata === 'object' && metadata !== null ? { ...metadata } : {},
    tensor: (name, widths, shape) => readTensor(header[name], { name, widths, shape }, data),
  };
}

function parseHeader(text: string): Readonly<Record<string, unknown>> {
  try {
    const header: unknown = JSON.parse(text);
    if (typeof header === 'object' && header !== null && !Array.isArray(header)) return { ...header };
  } catch {
    // The error is thrown below.
  }
  throw new ModelFileError('the header is not a JSON object');
}

function readTensor(
  entry: unknown,
  wanted: {
    readonly name: string;
    readonly widths: Readonly<Record<string, number>>;
    readonly shape: readonly number[] | undefined;
  },
  data: Uint8Array,
): FileTensor {
  const { name, widths } = wanted;
  if (typeof entry !== 'object' || entry === null) throw new ModelFileError(`${name} is missing`);
  const { dtype, shape, data_offsets: offsets } = entry as Readonly<Record<string, unknown>>;
  const width = typeof dtype === 'string' ? widths[dtype] : undefined;
  if (width === undefined) {
    throw new ModelFileError(`${name} is ${String(dtype)}, not ${Object.keys(widths).join(' or ')}`);
  }
  if (!isCounts(shape)) throw new ModelFileError(`${name} has no shape`);
  if (wanted.shape !== undefined && String(shape) !== String(wanted.shape)) {
    throw new ModelFileError(`${name} is [${shape}], not [${wanted.shape}]`);
  }
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(Number.isSafeInteger)) {
    throw new ModelFileError(`${name} has no data_offsets`);
  }
  const [from, to] = offsets as [number, number];
  const length = shape.reduce((words, side) => words * side, 1);
  if (to - from !== width * length || from < 0 || to > data.length) {
    throw new ModelFileError(`${name} at bytes ${from} to ${to} is not ${length} words of this file`);
  }
  return { name, dtype: dtype as string, shape, bytes: data.subarray(from, to) };
}

function isCounts(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((side) => Number.isSafeInteger(side) && side >= 0);
}
