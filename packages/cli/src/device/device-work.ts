/** The training data of a command-line device: a share of MNIST, or a user's own model and data. */
import type { Samples, Trainer } from '@basa/learning';
import { shareOf, trainerOf } from '../flags/own-data.ts';
import { loadOwnModel } from '../flags/own-model.ts';
import type { CommandInput } from '../shell/command.ts';
import { text, whole, within, yes } from '../shell/flag.ts';

/** The number of devices that share MNIST. */
const MNIST_USERS = 1000;

export const DATA_FLAGS = {
  model: text({ value: 'file', help: 'module with your own model and data, such as model.ts', without: 'MNIST' }),
  user: whole({ help: 'number of the share of the data that this device trains on', default: 0 }),
  users: whole({
    help: 'number of shares into which the data are split',
    min: 1,
    without: `${MNIST_USERS} for MNIST, 1 with --model`,
  }),
  'equal-bits': yes('get bit-identical results on every machine; slower on machines with relaxed SIMD'),
};

export interface DeviceWork {
  readonly trainer: Trainer;
  samples(): Promise<Samples>;
}

export async function deviceWork({ flags, signal }: CommandInput<typeof DATA_FLAGS>): Promise<DeviceWork> {
  const { model: file, 'equal-bits': equalBits } = flags;
  const users = flags.users ?? (file === undefined ? MNIST_USERS : 1);
  const user = within(flags.user, 'user', { max: users - 1 });
  if (file === undefined) {
    const { demoTrainer } = await import('../demo/trainer.ts');
    return { trainer: await demoTrainer({ equalBits }), samples: () => mnistShare(user, users, signal) };
  }
  const own = await loadOwnModel(file);
  const trainer = await trainerOf(file, own, { equalBits });
  return { trainer, samples: () => shareOf(file, own, { device: user, devices: users }, trainer) };
}

async function mnistShare(user: number, users: number, signal: AbortSignal): Promise<Samples> {
  const { loadMnist } = await import('@basa/datasets');
  const { partitionByDirichlet } = await import('@basa/learning');
  const { train } = await loadMnist({ signal });
  const { labels, classes } = train;
  const partition = partitionByDirichlet({ labels, classes, users, alpha: 0.5, seed: 1 });
  return { dataset: train, indices: partition.users[user] ?? new Uint32Array() };
}
