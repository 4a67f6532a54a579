/** Initial parameters as PyTorch draws them: uniform within 1 / sqrt(fan in); group norms start at scale 1, shift 0. */

import { randomStream } from '../numbers/random-stream.ts';
import type { Model } from './model.ts';

/** The same bits for the same seed everywhere: each tensor has its own stream, each word 24 uniform bits. */
export function initialParameters(model: Model, seed: number): Float32Array {
  const parameters = new Float32Array(model.dimension);
  for (const { name, shape, offset, length, fanIn } of model.manifest) {
    const target = parameters.subarray(offset, offset + length);
    if (isNorm(model, name)) {
      target.fill(name.endsWith('.weight') ? 1 : 0);
      continue;
    }
    const random = randomStream(seed, 'init', name, ...shape);
    const bound = 1 / Math.sqrt(fanIn);
    for (let n = 0; n < length; n++) target[n] = bound * (2 * ((random.u32() >>> 8) / 2 ** 24) - 1);
  }
  return parameters;
}

function isNorm(model: Model, name: string): boolean {
  return model.layers.some(
    ({ layer, tensors }) =>
      layer.kind === 'groupNorm' && (tensors?.weight.name === name || tensors?.bias.name === name),
  );
}
