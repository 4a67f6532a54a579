/** Data and trainer of a tab, loaded when it joins: the engine and its wasm are not part of the core. */
import { allSamples, type Dataset, decodeDataset, readModelJson, type Samples, type Trainer } from '@basa/learning';
import { createPageTrainer } from '../shared/page-trainer.ts';
import type { DeviceData, TaskHints } from './device-messages.ts';

/** The client checks the network's layout against the policy before it trains. */
export function trainerOf({ model, loss }: TaskHints): Trainer {
  if (model === undefined) throw new Error('this task does not describe its network, so a tab cannot train it');
  if (loss === 'own') throw new Error('this task has its own loss function, which a tab does not know');
  return createPageTrainer(readModelJson(model), loss);
}

export async function samplesOf(data: DeviceData, { model }: Trainer): Promise<Samples> {
  return allSamples(data.kind === 'share' ? await fetchShare(data.address) : ownPictures(data, model));
}

async function fetchShare(address: string): Promise<Dataset> {
  const answer = await fetch(address, { credentials: 'omit' });
  if (!answer.ok) throw new Error(`the share ${address} could not be downloaded (${answer.status})`);
  return decodeDataset(new Uint8Array(await answer.arrayBuffer()));
}

function ownPictures(
  { inputs, labels }: Extract<DeviceData, { readonly kind: 'own' }>,
  { input, classes }: Trainer['model'],
): Dataset {
  return { name: 'own pictures', shape: input, classes, inputs, labels };
}
