/** Models as safetensors files (github.com/huggingface/safetensors, format of 0.x): a JSON header, then raw floats. */

import type { Model } from './model.ts';
import { utf8, utf8Text } from './text.ts';

/** A file that is not what it should be; names the place. */
export class ModelFileError extends Error {
  constructor(problem: string) {
    super(`safetensors: ${problem}`);
    this.name = 'ModelFileError';
  }
}

const HEADER_LIMIT_BYTES = 100_000_000; // the format's own bound

export function encodeSafetensors(
  model: Model,
  parameters: Float32Array,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  if (parameters.length !== model.dimension) {
    throw new RangeError(`${model.name} has ${model.dimension} parameters, got ${parameters.length}`);
  }
  const entries = model.manifest.map(({ name, shape, offset, length }) => [
    name,
    { dtype: 'F32', shape, data_offsets: [4 * offset, 4 * (offset + length)] },
  ]);
  const header = JSON.stringify({ __metadata__: { format: 'pt', ...metadata }, ...Object.fromEntries(entries) });
  const text = utf8(header);
  const json = new Uint8Array(Math.ceil(text.length / 8) * 8).fill(0x20); // padded with spaces: data stays aligned
  json.set(text);
  const bytes = new Uint8Array(8 + json.length + 4 * parameters.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, json.length, true);
  bytes.set(json, 8);
  for (let n = 0; n < parameters.length; n++) view.setFloat32(8 + json.length + 4 * n, parameters[n] as number, true);
  return bytes;
}

/** The flat vector of `model` from a file that holds all of its tensors, in whatever order they lie there. */
export function decodeSafetensors(model: Model, bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (bytes.length < 8) throw new ModelFileError(`${bytes.length} bytes are too few for a header`);
  const headerLength = view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32;
  if (headerLength > HEADER_LIMIT_BYTES || headerLength > bytes.length - 8) {
    throw new ModelFileError(`a header of ${headerLength} bytes does not fit a file of ${bytes.length}`);
  }
  const header = parseHeader(utf8Text(bytes.subarray(8, 8 + headerLength)));
  const data = 8 + headerLength;
  const parameters = new Float32Array(model.dimension);
  for (const { name, shape, offset, length } of model.manifest) {
    const entry = checkEntry(header[name], name, shape);
    const [from, to] = entry.data_offsets;
    if (!(to - from === 4 * length && from >= 0 && data + to <= bytes.length)) {
      throw new ModelFileError(`${name} at bytes ${from} to ${to} is not ${length} floats of this file`);
    }
    for (let n = 0; n < length; n++) parameters[offset + n] = view.getFloat32(data + from + 4 * n, true);
  }
  return parameters;
}

interface Entry {
  readonly data_offsets: readonly [number, number];
}

function parseHeader(text: string): Readonly<Record<string, unknown>> {
  try {
    const header: unknown = JSON.parse(text);
    if (typeof header === 'object' && header !== null && !Array.isArray(header)) return { ...header };
  } catch {
    // said below
  }
  throw new ModelFileError('the header is not a JSON object');
}

function checkEntry(entry: unknown, name: string, shape: readonly number[]): Entry {
  if (typeof entry !== 'object' || entry === null) throw new ModelFileError(`${name} is missing`);
  const { dtype, shape: found, data_offsets: offsets } = entry as Readonly<Record<string, unknown>>;
  if (dtype !== 'F32') throw new ModelFileError(`${name} is ${String(dtype)}, not F32`);
  if (String(found) !== String(shape)) throw new ModelFileError(`${name} is [${String(found)}], not [${shape}]`);
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(Number.isSafeInteger)) {
    throw new ModelFileError(`${name} has no data_offsets`);
  }
  return { data_offsets: [offsets[0] as number, offsets[1] as number] };
}
