/** The models the command line knows by name, and how a task of each is trained by default (the paper's settings). */
import type { Model } from '@basa/learning';
import { fedmlCifarCnn, femnistCnn, flsimCnn, logisticRegression } from '@basa/learning';
import type { TaskTraining } from '@basa/protocol';
import { CommandError } from './command.ts';

interface KnownModel {
  readonly make: () => Model;
  readonly training: TaskTraining;
}

const training = (batchSize: number, learningRate: number): TaskTraining => ({
  epochs: 1,
  batchSize,
  learningRate,
  loss: 'softmaxCrossEntropy',
});

const MODELS: Readonly<Record<string, KnownModel>> = {
  mnist: { make: logisticRegression, training: training(10, 0.03) },
  femnist: { make: femnistCnn, training: training(20, 0.05) },
  cifar: { make: fedmlCifarCnn, training: training(20, 0.03) },
  flsim: { make: flsimCnn, training: training(20, 0.1) },
};

export const MODEL_NAMES: readonly string[] = Object.keys(MODELS);

export function knownModel(name: string): { readonly model: Model; readonly training: TaskTraining } {
  const known = MODELS[name];
  if (known === undefined)
    throw new CommandError(`there is no model "${name}"; choose one of ${MODEL_NAMES.join(', ')}`);
  return { model: known.make(), training: known.training };
}
