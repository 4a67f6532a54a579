/** Data and trainer of a tab, loaded when it joins: the engine and its wasm are not part of the core. */
import { allSamples, type Dataset, decodeDataset, readModelJson, type Samples, type Trainer } from '@basa/learning';
import { createPageTrainer } from '../shared/page-trainer.ts';
import type { DeviceData, TaskHints } from './device-messages.ts';

/** The client checks the network's layout against the policy before it trains. */
export function trainerOf({ model, loss }: TaskHints): Trainer {
  if (model === undefined) throw new Error('this task names no network that a tab could train');
  if (loss === 'own') throw new Error('the loss of this task is its own, and no tab knows it');
  return createPageTrainer(readModelJson(model), loss);
}

export async function samplesOf(data: DeviceData, { model }: Trainer): Promise<Samples> {
  return allSamples(data.kind === 'share' ? await fetchShare(data.address) : ownPictures(data, model));
}

async function fetchShare(address: string): Promise<Dataset> {
  const answer = await fetch(address, { credentials: 'omit' });
  if (!answer.ok) throw new Error(`the share ${address} could not be fetched (${answer.status})`);
  return decodeDataset(new Uint8Array(await answer.arrayBuffer()));
}

function ownPictures(
  { inputs, labels }: Extract<DeviceData, { readonly kind: 'own' }>,
  { input, classes }: Trainer['model'],
): Dataset {
  return { name: 'own pictures', shape: input, classes, inputs, labels };
}
