/** The trainer of a network on Node: with wasm SIMD if it is available. */
import type { LossName, Model, Trainer } from '@basa/learning';
import { createTrainingKernel } from '@basa/runtime/node';

export interface TrainerOptions {
  /**
   * True if another machine that trains on the same examples must come to the same bits. No device needs that, because
   * its training is never repeated: false by default, which is faster if the JavaScript engine has relaxed SIMD.
   */
  readonly equalBits?: boolean;
  /** The loss that is minimised; softmax cross-entropy by default. */
  readonly loss?: LossName;
}

/** Loads the backends on demand, so that an application that trains elsewhere need not load them. */
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
