/** A project for devices on Node: a network of our layers, data from CSV files. */
import {
  compilerFile,
  createTaskFile,
  exampleLines,
  IGNORED,
  type ProjectFiles,
  type ProjectPlace,
  packageFile,
  readmeFile,
  type Template,
  TO_FILE,
  TRAINING_AND_DATA,
} from './template.ts';

const MODEL = `/** The network, its training and its data. \`basa simulate\`, \`basa task create\` and device.ts all read this file. */
import { readFile } from 'node:fs/promises';
import type { Dataset, Samples, Share } from '@basa/learning';
import { defineModel, dense, partitionEvenly, relu } from '@basa/learning';
import { readCsv } from '@basa/learning/files';

const CLASSES = 3;

/** Four numbers in, one of three classes out. Images are { height: 28, width: 28, channels: 1 }, with conv2d and maxPool. */
export const model = defineModel('my-network', { height: 1, width: 1, channels: 4 }, [dense(16), relu, dense(CLASSES)]);

${TRAINING_AND_DATA}
/** The examples on which every version of the model is evaluated. They go to the server, so use no private data. */
export const test = (): Promise<Dataset> => load('data/test.csv');
`;

/** `about`: the purpose of this device; `client` and `model`: its imports; `trainer`: its trainer. */
interface DeviceParts {
  readonly about: string;
  readonly client: string;
  readonly model: string;
  readonly trainer: string;
}

const deviceFile = ({ about, client, model, trainer }: DeviceParts): string => `/** One device: ${about} */
import { existsSync, readFileSync } from 'node:fs';
import { ${client} } from '@basa/client/node';
import { ${model} } from './model.ts';

const [device = 0, devices = 3] = process.argv.slice(2).map(Number);
for (const [file, step] of [['task.json', 'create'], ['enrolment/tokens.txt', 'tokens']] as const) {
  if (existsSync(file)) continue;
  console.error(\`\${file} does not exist yet. Run \\\`npm run \${step}\\\` first: it writes the file.\`);
  process.exit(2);
}
const pins = JSON.parse(readFileSync('task.json', 'utf8'));
const tokens = readFileSync('enrolment/tokens.txt', 'utf8').split('\\n');

const identity = \`devices/\${pins.task.slice(0, 8)}/\${device}\`;
const client = await BasaClient.connect({ ...pins, token: tokens[device], identity }).catch((error: Error & { readonly next?: string }) => {
  console.error(error.message, error.next ?? '');
  process.exit(1);
});
client.on('trained', ({ version, loss }) => console.log(\`device \${device}: trained on version \${version}, loss \${loss.toFixed(3)}\`));
client.on('accepted', () => console.log(\`device \${device}: accepted\`));
client.on('waiting', (gathering) => console.log(\`device \${device}: \${gatheringText(gathering)}\`));
client.on('rejected', ({ reason, detail }) => console.error(\`device \${device}: \${refusalText(reason, detail)}\`));
const { accepted } = await client.run(${trainer}, await data({ device, devices }), { rounds: 1 });
await client.close();
if (accepted === 0) process.exitCode = 1;
`;

const NODE_STEPS = `In one terminal, start a server and an authority on this machine:

\`\`\`sh
npm run basa -- dev --devices 0
\`\`\`

In a second terminal, paste the \`export\` lines that the first one printed, then run:

\`\`\`sh
npm run create                # the operator: creates the task, and writes task.json
npm run tokens                # the application: makes a token for each of three devices
npm run enrol                 # the owner of the authority: lets their devices in
npm run device -- 0 &         # three devices, each with a third of the data
npm run device -- 1 &
npm run device -- 2
\`\`\`
`;

interface NodeParts {
  readonly model: string;
  readonly device: DeviceParts;
  readonly isEvaluated: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  /** The README's section on exporting the model, if it is not made of our layers. */
  readonly taken?: string;
}

/** The files of a project on Node, for any kind of network. */
export function nodeFiles(
  place: ProjectPlace,
  { model, device, isEvaluated, dependencies = {}, taken }: NodeParts,
): ProjectFiles {
  return {
    'package.json': packageFile(place, { scripts: { device: `${place.run} device.ts` }, dependencies }),
    'tsconfig.json': compilerFile(place),
    '.gitignore': IGNORED,
    'README.md': readmeFile(place, NODE_STEPS, taken),
    'model.ts': model,
    'create-task.ts': createTaskFile({ isEvaluated, ...TO_FILE }),
    'device.ts': deviceFile(device),
    'data/train.csv': exampleLines(1, 600),
    'data/test.csv': exampleLines(2, 300),
  };
}

export const nodeTemplate: Template = {
  about: 'devices on Node: a network of layers, data from CSV files',
  files: (place) =>
    nodeFiles(place, {
      model: MODEL,
      device: {
        about: 'it downloads the model, trains on its own examples, and contributes a masked update.',
        client: 'BasaClient, gatheringText, refusalText, trainerFor',
        model: 'data, model',
        trainer: 'await trainerFor(model)',
      },
      isEvaluated: true,
    }),
};
