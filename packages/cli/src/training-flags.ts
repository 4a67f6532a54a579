/** How the devices of a task train, and what their updates may not be: the flags of `task create` that go into the policy. */
import type { TaskTraining } from '@basa/protocol';
import { type CommandInput, type Flags, numberFlag, textFlag, textFlags } from './command.ts';
import { positive } from './learning-flags.ts';

export const TRAINING_FLAGS: Flags = {
  ...textFlags('epochs', 'batch', 'rate', 'block-floor'),
};

export const TRAINING_USAGE = `  --epochs <n>         passes of a device over its examples (1)
  --batch <n>          examples of a step (10 for mnist, else 20)
  --rate <x>           learning rate of the devices (mnist and cifar 0.03, femnist 0.05, flsim and your own 0.1, or what model.ts says)
  --block-floor <x>    smallest norm an update may have on a block of parameters; 0 refuses only zeros (mnist 0.005, else a thousandth of the clip)`;

const MAX_U16 = 65_535;

/** Takes from the model what the flags do not say. */
export function trainingOf(
  input: CommandInput,
  { training, blockFloor }: { readonly training: TaskTraining; readonly blockFloor?: number },
): { readonly training: TaskTraining; readonly blockFloor?: number } {
  const asked = textFlag(input, 'block-floor') ?? blockFloor;
  const floor = Number(asked) === 0 ? 0 : positive(input, 'block-floor', blockFloor ?? 1);
  return {
    training: {
      epochs: numberFlag(input, 'epochs', { min: 1, max: MAX_U16, fallback: training.epochs }),
      batchSize: numberFlag(input, 'batch', { min: 1, max: MAX_U16, fallback: training.batchSize }),
      learningRate: positive(input, 'rate', training.learningRate),
      loss: training.loss,
    },
    ...(asked !== undefined && { blockFloor: floor }),
  };
}
