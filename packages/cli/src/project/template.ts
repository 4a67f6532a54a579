/** The common files of every project of `basa new`: its package, its data, the operator's program and a README with the commands. */
import { randomStream } from '@basa/learning';
import { tools } from './tools.ts';

export interface ProjectPlace {
  readonly name: string;
  /** The places from which npm gets our packages, by name. */
  readonly packages: Readonly<Record<string, string>>;
  /** The command that starts programs: with the packages from a clone, or as they are installed. */
  readonly run: string;
  /** The command that starts `basa`. */
  readonly basa: string;
}

/** Texts by their path in the project. */
export type ProjectFiles = Readonly<Record<string, string>>;

export interface Template {
  readonly about: string;
  files(place: ProjectPlace): ProjectFiles;
}

export interface PackageParts {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** `measured` with the data of the template. */
export const clipLines = (
  measured: number,
): string => `/** C: updates are clipped to this L2 norm, the median of the first updates of devices. \`npm run simulate\` measures it again. */
export const clip = ${measured};
`;

/** The part of a model.ts on Node about training, and the examples of each device in the CSV files. */
export const TRAINING_AND_DATA = `/** Training settings. They become part of the policy of the task, so no server can change them. */
export const training = { epochs: 2, batchSize: 8, learningRate: 0.1 };

${clipLines(0.42)}
/** Each line of a file is one example: its label, then its numbers. */
const load = async (name: string): Promise<Dataset> =>
  readCsv(await readFile(new URL(name, import.meta.url), 'utf8'), name, { shape: model.input, classes: CLASSES });

const train = load('data/train.csv');

/** The examples of one device. A real device reads its own file here. */
export async function data({ device, devices }: Share): Promise<Samples> {
  const dataset = await train;
  return { dataset, indices: partitionEvenly(dataset.labels.length, devices, 1)[device] ?? new Uint32Array() };
}
`;

export function packageFile({ name, packages, run, basa }: ProjectPlace, parts: PackageParts): string {
  return json({
    name,
    private: true,
    type: 'module',
    scripts: {
      basa,
      simulate: `${basa} simulate model.ts`,
      create: `${run} create-task.ts`,
      tokens: `${basa} keys make --count 3`,
      enrol: `${basa} keys enroll --hashes enrolment --task my-network`,
      ...parts.scripts,
      check: 'tsc -p .',
    },
    dependencies: { ...packages, ...parts.dependencies },
    devDependencies: {
      ...tools('@types/node', 'typescript', ...(run === 'tsx' ? (['tsx'] as const) : [])),
      ...parts.devDependencies,
    },
  });
}

export function compilerFile({ run }: ProjectPlace): string {
  return json({
    compilerOptions: {
      target: 'ES2022',
      lib: ['ES2022', 'DOM'],
      module: 'NodeNext',
      ...(run !== 'tsx' && { customConditions: ['@basa/source'] }),
      types: ['node'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      erasableSyntaxOnly: true,
      skipLibCheck: true,
    },
    include: ['*.ts'],
  });
}

/** Task and tokens belong to one deployment, and the folders of devices hold their keys: none of it belongs in git. */
export const IGNORED = 'node_modules/\ntask.json\nenrolment/\ndevices/\nbasa-simulation/\n.basa-dev/\npublic/*.js\n';

export interface OperatorParts {
  /** True if the server can evaluate the network. */
  readonly isEvaluated: boolean;
  /** The code that stores the task. */
  readonly imports: string;
  readonly end: string;
}

/** The operator's program. */
export function createTaskFile({ isEvaluated, imports, end }: OperatorParts): string {
  return `/** Run this once as the operator: it creates the task. The owner of the authority lets the devices in. */
${imports}import { createTask } from '@basa/client/operator';
import { clip, model, ${isEvaluated ? 'test, ' : ''}training } from './model.ts';

const DEVICES = 3;
const { BASA_SERVER: server, BASA_AUTHORITY: authority, BASA_AUTHORITY_KEY: authorityKey } = process.env;
const { BASA_OPERATOR_TOKEN: operatorToken, BASA_AUTHORITY_TOKEN: authorityToken } = process.env;
if (!server || !authority || !authorityKey || !operatorToken || !authorityToken) {
  console.error('Set BASA_SERVER, BASA_AUTHORITY, BASA_AUTHORITY_KEY, BASA_OPERATOR_TOKEN and BASA_AUTHORITY_TOKEN.');
  console.error('\`npm run basa -- dev\` prints them.');
  process.exit(2);
}
const { task } = await createTask({
  server,
  authority,
  operatorToken,
  authorityToken,
  model,
  training,
  clip,
  bufferSize: DEVICES, // K: the number of updates in one sum
  minimum: DEVICES, // Kmin: devices take part in no sum of fewer than three updates
  places: DEVICES, // devices that train at a time
${isEvaluated ? '  evaluationSet: await test(),\n' : ''}}).catch((error: Error & { readonly next?: string }) => {
  console.error(error.message, error.next ?? '');
  process.exit(1);
});
console.log(\`task \${task}\`);
${end}`;
}

/** For devices that read a file: their pins. */
export const TO_FILE: Pick<OperatorParts, 'imports' | 'end'> = {
  imports: "import { writeFile } from 'node:fs/promises';\n",
  end: `await writeFile('task.json', \`\${JSON.stringify({ server, authority, authorityKey, task }, null, 2)}\\n\`);
console.log('wrote task.json: the addresses and keys that devices need');
`,
};

/** Points around one corner for each class, one line per example: its label, then its numbers. */
export function exampleLines(seed: number, count: number): string {
  const random = randomStream(seed, 'measurements');
  const lines = Array.from({ length: count }, (_, n) => {
    const numbers = [0, 1, 2, 3].map((k) => (k === n % 3 ? 1 : 0) + 0.4 * random.normal());
    return [n % 3, ...numbers.map((value) => value.toFixed(3))].join(',');
  });
  return `${lines.join('\n')}\n`;
}

const EXPORTED = `\`\`\`sh
npm run basa -- task export my-network --out model.onnx      # or .safetensors; .csv for the curves
\`\`\`
`;

/** `steps` end with three accepted devices; `taken` describes how the model leaves the server. */
export function readmeFile({ name }: Pick<ProjectPlace, 'name'>, steps: string, taken = EXPORTED): string {
  return `# ${name}

Your own model, trained by many devices. Nobody sees the update of a single device.

| file | |
|---|---|
| \`model.ts\` | the network, its training settings and its data; change this file first |
| \`create-task.ts\` | the operator runs this program once, to create the task |
| \`device.ts\` | the program that runs on each device |

## 1. Simulate

\`\`\`sh
npm run simulate
\`\`\`

This trains the model with 20 virtual devices, tells whether \`clip\` in model.ts still fits, and writes a curve, a plot and the model into \`basa-simulation/\`.
\`npm run simulate -- --help\` lists the options for protocols, delays and drop-outs.

## 2. Run it with real services

${steps}
When all three updates are accepted, the server opens their sum, and nothing else. The sum makes version 1 of the model:

\`\`\`sh
npm run basa -- task ls
\`\`\`

## 3. Export the model

${taken}`;
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
