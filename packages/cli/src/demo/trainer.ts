/** The demo's trainer: logistic regression on MNIST, with the wasm engine where there is one. */
import type { Trainer } from '@basa/learning';
import { createKernelEngine, createReferenceEngine, createTrainer, logisticRegression } from '@basa/learning';
import { createTrainingKernel } from '@basa/runtime/node';

export function demoTrainer(): Trainer {
  const model = logisticRegression();
  const kernel = createTrainingKernel();
  return createTrainer(kernel === undefined ? createReferenceEngine(model) : createKernelEngine(model, kernel));
}
