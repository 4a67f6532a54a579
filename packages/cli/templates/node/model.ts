/** The network, its training and its data. `basa simulate`, `basa task create` and device.ts all read this file. */
import { readFile } from 'node:fs/promises';
import type { Dataset, Samples, Share } from '@basa/learning';
import { defineModel, dense, partitionEvenly, relu } from '@basa/learning';
import { readCsv } from '@basa/learning/files';

const CLASSES = 3;

/** Four numbers in, one of three classes out. Images are { height: 28, width: 28, channels: 1 }, with conv2d and maxPool. */
export const model = defineModel('my-network', { height: 1, width: 1, channels: 4 }, [dense(16), relu, dense(CLASSES)]);

/** Training settings. They become part of the policy of the task, so no server can change them. */
export const training = { epochs: 2, batchSize: 8, learningRate: 0.1 };

/** C: updates are clipped to this L2 norm, the median of the first updates of devices. `npm run simulate` measures it again. */
export const clip = 0.42;

/** Each line of a file is one example: its label, then its numbers. */
const load = async (name: string): Promise<Dataset> =>
  readCsv(await readFile(new URL(name, import.meta.url), 'utf8'), name, { shape: model.input, classes: CLASSES });

const train = load('data/train.csv');

/** The examples of one device. A real device reads its own file here. */
export async function data({ device, devices }: Share): Promise<Samples> {
  const dataset = await train;
  return { dataset, indices: partitionEvenly(dataset.labels.length, devices, 1)[device] ?? new Uint32Array() };
}

/** The examples on which every version of the model is evaluated. They go to the server, so use no private data. */
export const test = (): Promise<Dataset> => load('data/test.csv');
