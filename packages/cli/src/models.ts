/** The models the command line knows by name, and how a task of each is trained by default (the paper's settings). */
import type { Model } from '@basa/learning';
import { fedmlCifarCnn, femnistCnn, flsimCnn, logisticRegression } from '@basa/learning';
import { CommandError } from './command.ts';

interface KnownModel {
  readonly make: () => Model;
  readonly batchSize: number;
  readonly learningRate: number;
}

const MODELS: Readonly<Record<string, KnownModel>> = {
  mnist: { make: logisticRegression, batchSize: 10, learningRate: 0.03 },
  femnist: { make: femnistCnn, batchSize: 20, learningRate: 0.05 },
  cifar: { make: fedmlCifarCnn, batchSize: 20, learningRate: 0.03 },
  flsim: { make: flsimCnn, batchSize: 20, learningRate: 0.1 },
};

export const MODEL_NAMES: readonly string[] = Object.keys(MODELS);

export function knownModel(name: string): { readonly model: Model; readonly training: object } {
  const known = MODELS[name];
  if (known === undefined)
    throw new CommandError(`there is no model "${name}"; choose one of ${MODEL_NAMES.join(', ')}`);
  const { make, batchSize, learningRate } = known;
  return { model: make(), training: { epochs: 1, batch: batchSize, rate: learningRate } };
}
