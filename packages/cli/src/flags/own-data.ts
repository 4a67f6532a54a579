/** Trainer and examples of a user's own model, checked when they are loaded: an error gives the place and the remedy. */
import type { OwnModel, Samples, Share, Trainer } from '@basa/learning';
import { CommandError } from '../shell/command.ts';

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
