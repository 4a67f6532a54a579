/** A network that only devices can build, as their program writes it down: its tensors, without its layers. */

import type { Model, Tensor } from './model.ts';
import { readModelJson } from './model-json.ts';

/** A list of layers, or `{ "name", "input", "architecture": ["a line of JSON"], "tensors": [{ "name", "shape" }] }`. */
export function readNetworkJson(value: unknown): Model {
  if (typeof value !== 'object' || value === null || !('tensors' in value)) return readModelJson(value);
  const { tensors, architecture, ...rest } = value as { tensors: unknown; architecture?: unknown };
  const { name, input } = readModelJson({ ...rest, layers: [{ kind: 'flatten' }, { kind: 'dense', outputs: 1 }] });
  if (!Array.isArray(architecture) || !architecture.every(isLine))
    throw new RangeError('architecture must be a list of lines in ASCII');
  if (!Array.isArray(tensors) || tensors.length === 0) throw new RangeError('tensors must be a list, one or more');
  const manifest: Tensor[] = [];
  let dimension = 0;
  for (const tensor of tensors) {
    const read = readTensor(tensor, dimension);
    if (manifest.some((other) => other.name === read.name))
      throw new RangeError(`two tensors have the name ${read.name}`);
    manifest.push(read);
    dimension += read.length;
  }
  return { name, input, layers: [], architecture, manifest, dimension, classes: 1 };
}

function isLine(value: unknown): value is string {
  return typeof value === 'string' && /^[ -~]+$/.test(value);
}

function readTensor(value: unknown, offset: number): Tensor {
  const { name, shape } = (value ?? {}) as { name?: unknown; shape?: unknown };
  if (typeof name !== 'string' || name.length === 0) throw new RangeError('a tensor must have a name');
  const isShape = Array.isArray(shape) && shape.every((size) => Number.isSafeInteger(size) && size >= 1);
  if (!isShape) throw new RangeError(`the shape of ${name} must be a list of positive integers`);
  const sizes = shape as readonly number[];
  const product = (some: readonly number[]): number => some.reduce((total, size) => total * size, 1);
  return { name, shape: sizes, offset, length: product(sizes), fanIn: product(sizes.slice(1)) };
}
