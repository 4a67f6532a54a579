/** Checks before a model is written to a file. */
import type { Model } from './model.ts';

export function checkFits(model: Model, parameters: Float32Array): void {
  if (parameters.length !== model.dimension) {
    throw new RangeError(`${model.name} has ${model.dimension} parameters, got ${parameters.length}`);
  }
}

/** Networks of other libraries are described only by their tensors. */
export function checkLayersKnown({ name, layers }: Model): void {
  if (layers.length > 0) return;
  throw new RangeError(
    `${name} is a network of another library, whose layers are not known here; export it as safetensors, or save it with that library`,
  );
}
