/** The trainer of a network on Node: wasm SIMD where there is any. */
import type { Model, Trainer } from '@basa/learning';
import { createTrainingKernel } from '@basa/runtime/node';

/** Loads the engines when they are asked for: whoever trains elsewhere need not. */
export async function trainerFor(model: Model): Promise<Trainer> {
  const { createKernelEngine, createReferenceEngine, createTrainer } = await import('@basa/learning');
  const kernel = createTrainingKernel();
  return createTrainer(kernel === undefined ? createReferenceEngine(model) : createKernelEngine(model, kernel));
}
