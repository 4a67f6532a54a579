/** The models the command line knows by name, with their default training settings (the paper's). */
import type * as Models from '@basa/learning';
import type { Dataset, Model } from '@basa/learning';
import type { Loss, TaskTraining } from '@basa/protocol/policy';
import { CommandError } from '../shell/command.ts';
import { isModelFile, loadModel } from './own-model.ts';

interface KnownModel {
  readonly make: (models: typeof Models) => Model;
  readonly training: TaskTraining;
  /** C, the norm to which updates are shortened. */
  readonly clip?: number;
  /** The data on which versions are evaluated. */
  readonly test?: (signal: AbortSignal) => Promise<Dataset>;
}

const training = (batchSize: number, learningRate: number): TaskTraining => ({
  epochs: 1,
  batchSize,
  learningRate,
  loss: 'softmaxCrossEntropy',
});

/** For a user's own model whose file does not give training settings. */
export const OWN_TRAINING: TaskTraining = training(20, 0.1);

/** C of the models by name: below the median norm of their first updates. */
const NAMED_CLIP = 1;

const MODELS: Readonly<Record<string, KnownModel>> = {
  mnist: {
    make: ({ logisticRegression }) => logisticRegression(),
    training: training(10, 0.03),
    test: async (signal) => (await (await import('@basa/datasets')).loadMnist({ signal })).test,
  },
  femnist: { make: ({ femnistCnn }) => femnistCnn(), training: training(20, 0.05) },
  cifar: { make: ({ fedmlCifarCnn }) => fedmlCifarCnn(), training: training(20, 0.03) },
  flsim: { make: ({ flsimCnn }) => flsimCnn(), training: training(20, 0.1) },
};

export const MODEL_NAMES: readonly string[] = Object.keys(MODELS);

/** Loads a model by name, or from a user's own file. */
export async function chosenModel(name: string): Promise<Omit<KnownModel, 'make'> & { readonly model: Model }> {
  if (isModelFile(name)) {
    const { model, training: own, clip, test } = await loadModel(name);
    const { DEFAULT_LOSS, isLossName } = await import('@basa/learning');
    const { loss: named = DEFAULT_LOSS } = own ?? {};
    const loss: Loss = isLossName(named) ? named : 'own';
    const settings = { training: { ...OWN_TRAINING, ...own, loss }, ...(clip !== undefined && { clip }) };
    const canServerEvaluate = model.layers.length > 0 && loss !== 'own';
    return { model, ...settings, ...(test !== undefined && canServerEvaluate && { test: async () => test() }) };
  }
  const known = MODELS[name];
  if (known === undefined)
    throw new CommandError(
      `there is no model "${name}"; choose one of ${MODEL_NAMES.join(', ')}, or give a file such as net.json or model.ts`,
    );
  const { make, ...settings } = known;
  return { model: make(await import('@basa/learning')), clip: NAMED_CLIP, ...settings };
}
