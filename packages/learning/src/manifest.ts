/** A model's layout as bytes, to be hashed into the task: users of another layout cannot take part by mistake. */
import type { Model } from './model.ts';

/** Canonical: version, dimension, then name, shape and offset of each tensor, as one line of ASCII each. */
export function manifestText(model: Model): string {
  const lines = model.manifest.map(({ name, shape, offset }) => `${name} [${shape.join(',')}] ${offset}`);
  return ['basa-manifest-1', `d ${model.dimension}`, ...lines, ''].join('\n');
}
