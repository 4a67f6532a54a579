/** What a device of the command line trains: a share of MNIST, or a model and data of one's own. */
import type { Samples, Trainer } from '@basa/learning';
import { type CommandInput, numberFlag, textFlag } from './command.ts';
import { loadOwnModel } from './own-model.ts';

/** Devices that MNIST is shared among. */
export const MNIST_USERS = 1000;

export interface DeviceWork {
  readonly trainer: Trainer;
  samples(): Promise<Samples>;
}

export async function deviceWork(input: CommandInput): Promise<DeviceWork> {
  const file = textFlag(input, 'model');
  const users = numberFlag(input, 'users', { min: 1, fallback: file === undefined ? MNIST_USERS : 1 });
  const user = numberFlag(input, 'user', { max: users - 1, fallback: 0 });
  const equalBits = input.values['equal-bits'] === true;
  if (file === undefined) {
    const { demoTrainer } = await import('./demo/trainer.ts');
    return { trainer: await demoTrainer({ equalBits }), samples: () => mnistShare(user, users, input.signal) };
  }
  const own = await loadOwnModel(file);
  const { trainerFor } = await import('@basa/client/node');
  const trainer = (await own.trainer?.()) ?? (await trainerFor(own.model, { equalBits }));
  return { trainer, samples: async () => own.data({ device: user, devices: users }) };
}

async function mnistShare(user: number, users: number, signal: AbortSignal): Promise<Samples> {
  const { loadMnist } = await import('@basa/datasets');
  const { partitionByDirichlet } = await import('@basa/learning');
  const { train } = await loadMnist({ signal });
  const { labels, classes } = train;
  const partition = partitionByDirichlet({ labels, classes, users, alpha: 0.5, seed: 1 });
  return { dataset: train, indices: partition.users[user] ?? new Uint32Array() };
}
