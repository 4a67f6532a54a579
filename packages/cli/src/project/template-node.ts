/** A project for devices on Node: a network of our layers, data from CSV files. */
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

const MODEL = `/** The network, how devices train it, and what on. \`basa simulate\`, \`basa task create\` and device.ts all read this file. */
import { fileURLToPath } from 'node:url';
import { loadCsv } from '@basa/datasets';
import type { Dataset, Samples, Share } from '@basa/learning';
import { defineModel, dense, partitionEvenly, relu } from '@basa/learning';

const CLASSES = 3;

/** Four numbers in, one of three classes out. Images are { height: 28, width: 28, channels: 1 }, with conv2d and maxPool. */
export const model = defineModel('my-network', { height: 1, width: 1, channels: 4 }, [dense(16), relu, dense(CLASSES)]);

${TRAINING_AND_DATA}
/** What every version of the model is evaluated on. It goes to the server: nothing private. */
export const test = (): Promise<Dataset> => load('data/test.csv');
`;

const DEVICE = `/** One device: fetches the model, trains on its own examples, contributes a masked update. */
import { readFile } from 'node:fs/promises';
import { BasaClient, trainerFor } from '@basa/client/node';
import { data, model } from './model.ts';

const [device = 0, devices = 3] = process.argv.slice(2).map(Number);
const { tokens, ...pins } = JSON.parse(await readFile('task.json', 'utf8'));

const client = await BasaClient.connect({ ...pins, token: tokens[device], identity: \`devices/\${pins.task.slice(0, 8)}/\${device}\` });
client.on('trained', ({ version, loss }) => console.log(\`device \${device}: trained on version \${version}, loss \${loss.toFixed(3)}\`));
client.on('accepted', ({ slot }) => console.log(\`device \${device}: accepted in slot \${slot}\`));
await client.run(await trainerFor(model), await data({ device, devices }), { rounds: 1 });
await client.close();
`;

export const NODE_STEPS = `In one terminal, a server and an authority on this machine:

\`\`\`sh
npm run basa -- dev --devices 0
\`\`\`

In another, paste the \`export\` lines that it printed, then:

\`\`\`sh
npm run create                # the task, and three tokens in task.json
npm run device -- 0 &         # three devices, each with a third of the data
npm run device -- 1 &
npm run device -- 2
\`\`\`
`;

export const nodeTemplate: Template = {
  about: 'devices on Node: a network of layers, data from CSV files',
  files: (place) => ({
    'package.json': packageFile(place, { scripts: { device: `${place.run} device.ts` } }),
    'tsconfig.json': compilerFile(place),
    '.gitignore': IGNORED,
    'README.md': readmeFile(place, NODE_STEPS),
    'model.ts': MODEL,
    'create-task.ts': createTaskFile({ isEvaluated: true, ...TO_FILE }),
    'device.ts': DEVICE,
    'data/train.csv': exampleLines(1, 600),
    'data/test.csv': exampleLines(2, 300),
  }),
};
