/** The backends learning tests run on. */
import {
  type Backend,
  type BackendOptions,
  createKernelBackend,
  createReferenceBackend,
  type Model,
  type RandomStream,
} from '@basa/learning';
import { createTrainingKernel } from '@basa/runtime/node';

export function wasmBackend(model: Model, batchCapacity = 32, loss?: BackendOptions['loss']): Backend {
  const kernel = createTrainingKernel();
  if (kernel === undefined) throw new Error('this Node has no wasm SIMD');
  return createKernelBackend(model, kernel, { batchCapacity, ...(loss !== undefined && { loss }) });
}

/** Fills the batch with made-up examples. */
export function drawExamples({ inputs, labels, model }: Backend, random: RandomStream): void {
  for (let n = 0; n < inputs.length; n++) inputs[n] = random.unit();
  for (let n = 0; n < labels.length; n++) labels[n] = random.below(model.classes);
}

export const BACKENDS: Readonly<Record<string, typeof wasmBackend>> = {
  wasm: wasmBackend,
  reference: (model, batchCapacity = 32, loss) =>
    createReferenceBackend(model, { batchCapacity, ...(loss !== undefined && { loss }) }),
};
