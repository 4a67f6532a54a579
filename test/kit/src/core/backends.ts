/** The backends learning tests run on. */
import { type Backend, createKernelBackend, createReferenceBackend, type Model } from '@basa/learning';
import { createTrainingKernel } from '@basa/runtime/node';

export function wasmBackend(model: Model, batchCapacity?: number): Backend {
  const kernel = createTrainingKernel();
  if (kernel === undefined) throw new Error('this Node has no wasm SIMD');
  return createKernelBackend(model, kernel, batchCapacity);
}

export const BACKENDS: Readonly<Record<string, (model: Model, batchCapacity?: number) => Backend>> = {
  wasm: wasmBackend,
  reference: createReferenceBackend,
};
