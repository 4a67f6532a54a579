/** A TensorFlow.js network, its training and its data. `basa simulate` and device.ts read this file. */
import { readFile } from 'node:fs/promises';
import type { Dataset, Samples, Share, Trainer } from '@basa/learning';
import { createTrainer, partitionEvenly } from '@basa/learning';
import { readCsv } from '@basa/learning/files';
import { createTfjsBackend } from '@basa/learning/tfjs';
import * as tf from '@tensorflow/tfjs-core';
import { layers, sequential } from '@tensorflow/tfjs-layers';
import '@tensorflow/tfjs-backend-cpu'; // or another backend

tf.enableProdMode(); // hides the advice to use another backend

const CLASSES = 3;
/** Ends in logits, one for each class. Name the layers: the names are part of the task. */
const network = sequential({
  name: 'my-network',
  layers: [
    layers.dense({ name: 'hidden', inputShape: [4], units: 16, activation: 'relu' }),
    layers.dense({ name: 'logits', units: CLASSES }),
  ],
});
const own = createTrainer(createTfjsBackend<tf.Tensor>(tf, network));

export const model = own.model;
export const trainer = (): Trainer => own;
