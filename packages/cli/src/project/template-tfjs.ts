/** A project whose network is one of TensorFlow.js, on Node. */

import {
  compilerFile,
  createTaskFile,
  exampleLines,
  IGNORED,
  packageFile,
  readmeFile,
  type Template,
  TO_FILE,
  TRAINING_AND_DATA,
} from './template.ts';
import { NODE_STEPS } from './template-node.ts';

const TFJS = '^4.22.0';

const MODEL = `/** A network of TensorFlow.js, how devices train it, and what on. \`basa simulate\` and device.ts read this file. */
import { fileURLToPath } from 'node:url';
import { loadCsv } from '@basa/datasets';
import type { Dataset, Samples, Share, Trainer } from '@basa/learning';
import { createTrainer, partitionEvenly } from '@basa/learning';
import { createTfjsBackend } from '@basa/learning/tfjs';
import * as tf from '@tensorflow/tfjs-core';
import { layers, sequential } from '@tensorflow/tfjs-layers';
import '@tensorflow/tfjs-backend-cpu'; // or another backend

tf.enableProdMode(); // without the advice to take another backend

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
/** What a simulation evaluates on; a server cannot run a network of TensorFlow.js. */
export const test = (): Promise<Dataset> => load('data/test.csv');
`;

const DEVICE = `/** One device: fetches the model, trains it with TensorFlow.js, contributes a masked update. */
import { readFile } from 'node:fs/promises';
import { BasaClient } from '@basa/client/node';
import { data, trainer } from './model.ts';

const [device = 0, devices = 3] = process.argv.slice(2).map(Number);
const { tokens, ...pins } = JSON.parse(await readFile('task.json', 'utf8'));

const client = await BasaClient.connect({ ...pins, token: tokens[device], identity: \`devices/\${pins.task.slice(0, 8)}/\${device}\` });
client.on('trained', ({ version, loss }) => console.log(\`device \${device}: trained on version \${version}, loss \${loss.toFixed(3)}\`));
client.on('accepted', ({ slot }) => console.log(\`device \${device}: accepted in slot \${slot}\`));
await client.run(trainer(), await data({ device, devices }), { rounds: 1 });
await client.close();
`;

export const tfjsTemplate: Template = {
  about: 'a network of TensorFlow.js, on Node',
  files: (place) => ({
    'package.json': packageFile(place, {
      scripts: { device: `${place.run} device.ts` },
      dependencies: {
        '@tensorflow/tfjs-backend-cpu': TFJS,
        '@tensorflow/tfjs-core': TFJS,
        '@tensorflow/tfjs-layers': TFJS,
      },
    }),
    'tsconfig.json': compilerFile(place),
    '.gitignore': IGNORED,
    'README.md': readmeFile(place, NODE_STEPS),
    'model.ts': MODEL,
    'create-task.ts': createTaskFile({ isEvaluated: false, ...TO_FILE }),
    'device.ts': DEVICE,
    'data/train.csv': exampleLines(1, 600),
    'data/test.csv': exampleLines(2, 300),
  }),
};
