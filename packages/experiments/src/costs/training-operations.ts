/** One example learned by a model, in batches as the tasks have them; what the pixels show does not change the time. */
import type { Model, Samples } from '@basa/learning';
import { allSamples, createKernelEngine, createReferenceEngine, createTrainer, randomStream } from '@basa/learning';
import { createTrainingKernel } from '@basa/runtime/node';
import { MODELS } from '../tasks.ts';
import type { Sampled, Sampling } from './sampling.ts';
import { sample } from './sampling.ts';

const BATCH = 20;

export function trainingPrice(name: string, sampling: Sampling): Sampled {
  const make = MODELS[name];
  if (make === undefined) throw new Error(`no model is called "${name}"`);
  const model = make();
  const kernel = createTrainingKernel();
  const trainer = createTrainer(kernel ? createKernelEngine(model, kernel) : createReferenceEngine(model));
  const samples = noise(model, 2 * BATCH);
  const start = trainer.init(1);
  const train = (): void => {
    trainer.train({ start, samples, batchSize: BATCH, learningRate: 0.01, seed: 1 });
  };
  const { ms, spread } = sample(`training ${name}`, train, sampling);
  return { ms: ms / (2 * BATCH), spread };
}

function noise(model: Model, count: number): Samples {
  const { input, classes } = model;
  const words = input.height * input.width * input.channels;
  const stream = randomStream(1, 'noise');
  const inputs = Uint8Array.from({ length: count * words }, () => stream.below(256));
  const labels = Uint8Array.from({ length: count }, () => stream.below(classes));
  return allSamples({ name: 'noise', shape: input, classes, inputs, labels });
}
