/** The trainer of a network on Node: wasm SIMD where there is any. */
import type { LossName, Model, Trainer } from '@basa/learning';
import { createTrainingKernel } from '@basa/runtime/node';

export interface TrainerOptions {
  /**
   * Whether another machine that trains on the same examples must come to the same bits. No device needs that, since nobody trains again what it trained: false
   * unless said otherwise, which is faster where the JavaScript engine has relaxed SIMD.
   */
  readonly equalBits?: boolean;
  /** What is minimised; softmax cross-entropy by default. */
  readonly loss?: LossName;
}

/** Loads the backends when they are asked for: whoever trains elsewhere need not. */
export async function trainerFor(
  model: Model,
  { equalBits = false, ...options }: TrainerOptions = {},
): Promise<Trainer> {
  const { createKernelBackend, createReferenceBackend, createTrainer } = await import('@basa/learning');
  const kernel = createTrainingKernel({ equalBits });
  return createTrainer(
    kernel === undefined ? createReferenceBackend(model, options) : createKernelBackend(model, kernel, options),
  );
}
