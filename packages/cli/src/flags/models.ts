/** The models the command line knows by name, with their default training settings (the paper's). */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Models from '@basa/learning';
import type { Dataset, Model, OwnModel, Samples, Share, Trainer } from '@basa/learning';
import type { Training } from '@basa/protocol/policy';
import { CommandError, defined } from '../shell/command.ts';

interface KnownModel {
  readonly make: (models: typeof Models) => Model;
  readonly training: Training.TaskTraining;
  /** C, the norm to which updates are shortened. */
  readonly clip?: number;
  /** The data on which versions are evaluated. */
  readonly test?: (signal: AbortSignal) => Promise<Dataset>;
}

const training = (batchSize: number, learningRate: number): Training.TaskTraining => ({
  epochs: 1,
  batchSize,
  learningRate,
  loss: 'softmaxCrossEntropy',
});

/** For a user's own model whose file does not give training settings. */
export const OWN_TRAINING: Training.TaskTraining = training(20, 0.1);

/** C of the models by name: below the median norm of their first updates. */
const NAMED_CLIP = 1;

const MODELS: Readonly<Record<string, KnownModel>> = {
  mnist: {
    make: ({ logisticRegression }) => logisticRegression(),
    training: training(10, 0.03),
    test: async (signal) => (await (await import('../data/mnist.ts')).loadMnist({ signal })).test,
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
    const loss: Training.Loss = isLossName(named) ? named : 'own';
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

const MODULE = /\.[cm]?[jt]s$/;

export function isModelFile(name: string): boolean {
  return MODULE.test(name) || name.endsWith('.json');
}

/** The content of a file; only a module has data. */
export async function loadModel(file: string): Promise<Pick<OwnModel, 'model'> & Partial<OwnModel>> {
  if (!existsSync(file)) throw new CommandError(`${file} does not exist; check the path`);
  return file.endsWith('.json') ? readNetwork(file) : loadOwnModel(file);
}

export async function loadOwnModel(file: string): Promise<OwnModel> {
  if (file.endsWith('.py')) return (await import('../project/python-model.ts')).loadPythonModel(file);
  if (!MODULE.test(file))
    throw new CommandError(
      `${file} is not a module; give a .ts, .mts, .js or .mjs file that exports \`model\` and \`data\`, or a .py file with a function \`trainer\``,
    );
  if (!existsSync(file)) throw new CommandError(`${file} does not exist; check the path`);
  const own = await importModule(resolve(file)).catch((error: Error) => {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${file} cannot be loaded: ${error.message.split('\n')[0]}`);
  });
  checkExports(file, own);
  return own as unknown as OwnModel;
}

/** A network with the `training` and the `clip` that a module exports, too. */
async function readNetwork(file: string): Promise<Pick<OwnModel, 'model' | 'training' | 'clip'>> {
  const { readNetworkJson } = await import('@basa/learning');
  const { parseJson } = await import('@basa/service');
  try {
    const { training, clip, ...network } = Object(parseJson(await readFile(file, 'utf8'))) as Partial<OwnModel>;
    checkSettings(file, { training, clip });
    return { model: readNetworkJson(network), ...defined({ training, clip }) };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${file}: ${(error as Error).message}`);
  }
}

/**
 * Node 22.18 and newer read TypeScript. Older versions need tsx, installed in the folder of the file. In a clone, our loader reads the
 * file.
 */
async function importModule(path: string): Promise<Record<string, unknown>> {
  const isRead = import.meta.url.endsWith('.ts') || Boolean((process.features as { typescript?: unknown }).typescript);
  if (/\.[cm]?ts$/.test(path) && !isRead) await registerTsx(path);
  return import(pathToFileURL(path).href);
}

async function registerTsx(path: string): Promise<void> {
  let found: string;
  try {
    found = createRequire(path).resolve('tsx/esm');
  } catch {
    throw new CommandError(
      `Node ${process.versions.node} cannot read TypeScript; run \`npm install --save-dev tsx\` in the folder of ${path}, or give a .js or .mjs file`,
    );
  }
  await import(pathToFileURL(found).href); // like `node --import tsx/esm`
}

/** The settings that a network's file gives, as a module or in JSON. */
function checkSettings(file: string, { training, clip }: { readonly training: unknown; readonly clip: unknown }): void {
  if (training !== undefined && (typeof training !== 'object' || training === null || Array.isArray(training)))
    throw new CommandError(
      `${file} has a \`training\` that is not an object; write it as { epochs, batchSize, learningRate, loss }`,
    );
  if (clip !== undefined && !(typeof clip === 'number' && clip > 0 && clip < Number.POSITIVE_INFINITY))
    throw new CommandError(
      `${file} has a \`clip\` that is not a positive number; remove it, and \`basa simulate\` measures it`,
    );
}

function checkExports(file: string, own: Readonly<Record<string, unknown>>): void {
  const { clip, model, data, test, trainer, training } = own;
  const isModel = typeof model === 'object' && model !== null && 'dimension' in model && 'manifest' in model;
  if (!isModel) throw new CommandError(`${file} must export \`model\`, the result of defineModel of @basa/learning`);
  if (typeof data !== 'function')
    throw new CommandError(
      `${file} must export \`data\`: a function that takes { device, devices } and returns the examples of one device`,
    );
  checkSettings(file, { training, clip });
  for (const [name, value] of Object.entries({ test, trainer }))
    if (value !== undefined && typeof value !== 'function')
      throw new CommandError(`${file} exports \`${name}\`, which is not a function; make it one, or remove it`);
}

const METHODS = ['init', 'train', 'evaluate'] as const;

/** The trainer that the file exports, or one of ours for its network and loss. */
export async function trainerOf(
  file: string,
  own: OwnModel,
  { equalBits }: { readonly equalBits: boolean },
): Promise<Trainer> {
  const { isLossName } = await import('@basa/learning');
  const { loss } = own.training ?? {};
  if (own.trainer !== undefined) return checkedTrainer(file, await own.trainer(), loss);
  if (loss !== undefined && !isLossName(loss))
    throw new CommandError(
      `${file}: there is no loss "${loss}"; use softmaxCrossEntropy, binaryCrossEntropy or mse, or export a \`trainer\` with your own loss`,
    );
  const { trainerFor } = await import('@basa/client/node');
  try {
    return await trainerFor(own.model, { equalBits, ...(loss !== undefined && { loss }) });
  } catch (error) {
    throw error instanceof RangeError ? new CommandError(`${file}: ${error.message}`) : error;
  }
}

/** A loss that only the file names belongs to its trainer. */
function checkedTrainer(file: string, trainer: Trainer, loss: string | undefined): Trainer {
  const missing = METHODS.find((name) => typeof trainer?.[name] !== 'function');
  if (missing !== undefined)
    throw new CommandError(
      `${file}: the object that \`trainer\` returns has no function \`${missing}\`; it needs name, model, ${METHODS.join(', ')} (type Trainer in @basa/learning)`,
    );
  if (typeof trainer.model?.dimension !== 'number')
    throw new CommandError(
      `${file}: the object that \`trainer\` returns has no \`model\`; add the model that the file exports`,
    );
  if (loss === undefined || trainer.loss !== undefined) return trainer;
  return {
    name: trainer.name,
    model: trainer.model,
    loss,
    init: (seed) => trainer.init(seed),
    train: (request) => trainer.train(request),
    evaluate: (parameters, samples) => trainer.evaluate(parameters, samples),
  };
}

/** The examples of one device. */
export async function shareOf(file: string, own: OwnModel, share: Share, trainer: Trainer): Promise<Samples> {
  const samples = await own.data(share);
  await checkExamples(`${file}: data of device ${share.device} of ${share.devices}`, samples, trainer);
  return samples;
}

export async function checkExamples(place: string, samples: Samples, { model, loss }: Trainer): Promise<void> {
  const { checkDataset, isLossName } = await import('@basa/learning');
  const { dataset, indices } = samples ?? {};
  if (dataset?.labels === undefined || dataset.inputs === undefined || indices?.length === undefined)
    throw new CommandError(
      `${place}: return { dataset, indices }; the dataset needs name, shape, classes, inputs and labels`,
    );
  if (indices.length === 0)
    throw new CommandError(`${place}: there are no examples; use fewer devices, or give each device some examples`);
  const beyond = indices.find((index) => index >= dataset.labels.length);
  if (beyond !== undefined)
    throw new CommandError(`${place}: there is no example ${beyond}; ${dataset.name} has ${dataset.labels.length}`);
  // Only a user's own trainer knows the inputs of its loss.
  if (loss === undefined || !isLossName(loss)) return;
  try {
    checkDataset(dataset, model, loss);
  } catch (error) {
    throw error instanceof RangeError ? new CommandError(`${place}: ${error.message}`) : error;
  }
}
