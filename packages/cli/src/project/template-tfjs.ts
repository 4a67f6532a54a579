/** A project whose network is one of TensorFlow.js, on Node. */
import { type Template, TRAINING_AND_DATA } from './template.ts';
import { nodeFiles } from './template-node.ts';
import { tools } from './tools.ts';

const MODEL = `/** A TensorFlow.js network, its training and its data. \`basa simulate\` and device.ts read this file. */
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

${TRAINING_AND_DATA}
/** The examples on which a simulation evaluates the model; a server cannot run a TensorFlow.js network. */
export const test = (): Promise<Dataset> => load('data/test.csv');
`;

/** The server knows the tensors of this network, not its layers. */
const TAKEN = `\`\`\`sh
npm run basa -- task export my-network --model model.ts --out model.safetensors      # or curves.csv
\`\`\`

The file contains every weight of the network under its name. \`decodeSafetensors\` of \`@basa/learning\` reads it.
`;

export const tfjsTemplate: Template = {
  about: 'a TensorFlow.js network, on Node',
  files: (place) =>
    nodeFiles(place, {
      model: MODEL,
      device: {
        about: 'it downloads the model, trains it with TensorFlow.js, and contributes a masked update.',
        client: 'BasaClient, gatheringText, refusalText',
        model: 'data, trainer',
        trainer: 'trainer()',
      },
      isEvaluated: false,
      taken: TAKEN,
      dependencies: tools('@tensorflow/tfjs-backend-cpu', '@tensorflow/tfjs-core', '@tensorflow/tfjs-layers'),
    }),
};
