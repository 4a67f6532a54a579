/** The engines learning tests run on. */
import { createKernelEngine, createReferenceEngine, type Engine, type Model } from '@basa/learning';
import { createTrainingKernel } from '@basa/runtime/node';

export function wasmEngine(model: Model, batchCapacity?: number): Engine {
  const kernel = createTrainingKernel();
  if (kernel === undefined) throw new Error('this Node has no wasm SIMD');
  return createKernelEngine(model, kernel, batchCapacity);
}

export const ENGINES: Readonly<Record<string, (model: Model, batchCapacity?: number) => Engine>> = {
  wasm: wasmEngine,
  reference: createReferenceEngine,
};
