/** The flags of `task create` that go into the policy: the training of devices. */
import type { Loss, TaskTraining } from '@basa/protocol/policy';
import type { CommandInput } from '../shell/command.ts';
import { choice, positive, whole } from '../shell/flag.ts';

const MAX_U16 = 65_535;
/** Listed here as well as in the protocol, whose code is loaded only when something runs. */
const TASK_LOSSES = ['softmaxCrossEntropy', 'binaryCrossEntropy', 'mse', 'own'] as const satisfies readonly Loss[];

/** Flags of local training. `without` is the default of each flag. */
export function localTrainingFlags(without: {
  readonly batch: string;
  readonly rate: string;
  readonly epochs: string;
}) {
  return {
    epochs: whole({
      help: 'number of passes of a device over its examples',
      min: 1,
      max: MAX_U16,
      without: without.epochs,
    }),
    batch: whole({ help: 'number of examples in a training step', min: 1, max: MAX_U16, without: without.batch }),
    rate: positive({ help: 'learning rate on the devices', without: without.rate }),
  };
}

export const TRAINING_FLAGS = {
  ...localTrainingFlags({
    epochs: '1',
    batch: '10 for mnist, else 20',
    rate: 'the value in model.ts, else 0.03 for mnist and cifar, 0.05 for femnist, 0.1 for others',
  }),
  loss: choice(TASK_LOSSES, {
    help: `loss that devices minimise: ${TASK_LOSSES.join(', ')}; own is the loss of your own trainer`,
    without: 'the value in model.ts, else softmaxCrossEntropy',
  }),
};

/** Takes values that the flags do not give from the model. */
export function trainingOf(
  { epochs, batch, rate, loss }: CommandInput<typeof TRAINING_FLAGS>['flags'],
  training: TaskTraining,
): TaskTraining {
  return {
    epochs: epochs ?? training.epochs,
    batchSize: batch ?? training.batchSize,
    learningRate: rate ?? training.learningRate,
    loss: loss ?? training.loss,
  };
}
