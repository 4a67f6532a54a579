/** The trainer of a page: its kernel if the browser runs it, otherwise plain code. */
import {
  createKernelBackend,
  createReferenceBackend,
  createTrainer,
  type LossName,
  type Model,
  type Trainer,
} from '@basa/learning';
import { createTrainingKernel } from '@basa/runtime/web';

export function createPageTrainer(network: Model, loss?: LossName): Trainer {
  const options = loss === undefined ? {} : { loss };
  const kernel = createTrainingKernel({ equalBits: false });
  return createTrainer(
    kernel === undefined ? createReferenceBackend(network, options) : createKernelBackend(network, kernel, options),
  );
}
