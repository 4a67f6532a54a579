/** One example learned by a model, in the batches of the tasks; the content of the pixels does not change the time. */
import {
  allSamples,
  createKernelBackend,
  createReferenceBackend,
  createTrainer,
  type Model,
  randomStream,
  type Samples,
  type Trainer,
} from '@basa/learning';
import { createTrainingKernel } from '@basa/runtime/node';
import { type Sampled, type Sampling, sample } from './sampling.ts';

const BATCH = 20;

export function trainingPrice(model: Model, sampling: Sampling): Sampled {
  const kernel = createTrainingKernel();
  const trainer = createTrainer(kernel ? createKernelBackend(model, kernel) : createReferenceBackend(model));
  return exampleLearned(trainer, noise(model, 2 * BATCH), BATCH, sampling);
}

/** The time of one example, in batches of this size. */
export function exampleLearned(trainer: Trainer, samples: Samples, batchSize: number, sampling: Sampling): Sampled {
  const start = trainer.init(1);
  const train = (): void => {
    trainer.train({ start, samples, batchSize, learningRate: 0.01, seed: 1 });
  };
  const { ms, spread } = sample(`training ${trainer.model.name}`, train, sampling);
  return { ms: ms / samples.indices.length, spread };
}

function noise(model: Model, count: number): Samples {
  const { input, classes } = model;
  const words = input.height * input.width * input.channels;
  const stream = randomStream(1, 'noise');
  const inputs = Uint8Array.from({ length: count * words }, () => stream.below(256));
  const labels = Uint8Array.from({ length: count }, () => stream.below(classes));
  return allSamples({ name: 'noise', shape: input, classes, inputs, labels });
}
