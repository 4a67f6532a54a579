/** A model as bytes whose hash is part of the task, so that no service can make a device train another network under the same name. */
import { canonicalJson } from './canonical-json.ts';
import type { Model } from './model.ts';

/**
 * Canonical lines of ASCII: version, dimension, the shape of an example, every layer with all its settings, then name, shape and offset of
 * each tensor.
 */
export function manifestText({ architecture, dimension, input, manifest }: Model): string {
  const tensors = manifest.map(({ name, shape, offset }) => canonicalJson([name, shape, offset]));
  const { height, width, channels } = input;
  const lines = [`d ${dimension}`, `input ${height}x${width}x${channels}`, ...architecture, ...tensors];
  return ['basa-manifest-2', ...lines, ''].join('\n');
}
