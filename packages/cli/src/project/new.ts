/** `basa new`: writes a complete project with a model, data, a device, and a README with the commands. */

import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Command, CommandError, type CommandInput, choice, command } from '../shell/command.ts';
import { quoted } from '../shell/process.ts';

/** The exact versions of third-party packages in a new project. This repository is tested with the same versions. */
export const TOOLS = {
  '@tensorflow/tfjs-backend-cpu': '4.22.0',
  '@tensorflow/tfjs-core': '4.22.0',
  '@tensorflow/tfjs-layers': '4.22.0',
  '@types/node': '20.19.43',
  esbuild: '0.28.2',
  tsx: '4.23.15',
  typescript: '7.0.2',
} as const;
type Tool = keyof typeof TOOLS;

/** Its files are in the folder of its name in `templates`, after those of its parents. */
interface Template {
  readonly about: string;
  readonly parents: readonly string[];
  /** Words in the files of the parents, and what they are here. */
  readonly words?: Readonly<Record<string, string>>;
  /** The template that has the second half of model.ts. */
  readonly data?: string;
  /** True if its examples are CSV files. */
  readonly hasFiles: boolean;
  scripts(place: ProjectPlace): Readonly<Record<string, string>>;
  readonly dependencies?: readonly Tool[];
  /** A project in Python has none. */
  readonly devDependencies?: readonly Tool[];
}

const TEMPLATES = {
  node: {
    about: 'devices on Node: a network of layers, data from CSV files',
    parents: ['common', 'typescript'],
    hasFiles: true,
    scripts: ({ run }) => ({ device: `${run} device.ts` }),
    devDependencies: ['@types/node', 'typescript'],
  },
  browser: {
    about: 'devices in browser tabs: a page and a worker',
    parents: ['common', 'typescript'],
    hasFiles: false,
    words: { 'task.json': 'public/task.json' },
    scripts: ({ run, conditions }) => {
      const bundle = `esbuild app.ts device.ts --bundle --splitting --format=esm --target=es2022 --outdir=public${conditions}`;
      const page = `${bundle} --servedir=public --serve=127.0.0.1:8080`;
      return { build: `${bundle} --minify`, page, links: `${run} links.ts` };
    },
    devDependencies: ['@types/node', 'typescript', 'esbuild'],
  },
  tfjs: {
    about: 'a TensorFlow.js network, on Node',
    parents: ['common', 'typescript', 'node'],
    hasFiles: true,
    data: 'node',
    words: {
      // A server cannot run the network.
      'model, test, training': 'model, training',
      '  evaluationSet: await test(),\n': '',
      'every version of the model is evaluated. They go to the server, so use no private data.':
        'a simulation evaluates the model; a server cannot run a TensorFlow.js network.',
      // The file has a trainer of its own.
      'data, model }': 'data, trainer }',
      ', trainerFor': '',
      'await trainerFor(model)': 'trainer()',
    },
    scripts: ({ run }) => ({ device: `${run} device.ts` }),
    dependencies: ['@tensorflow/tfjs-backend-cpu', '@tensorflow/tfjs-core', '@tensorflow/tfjs-layers'],
    devDependencies: ['@types/node', 'typescript'],
  },
  pytorch: {
    about: 'a PyTorch module, in Python; install the client with `pip install ./clients/python torch`',
    parents: ['common'],
    hasFiles: true,
    words: { 'model.ts': 'model.py', 'create-task.ts': 'create_task.py', 'device.ts': 'device.py' },
    scripts: ({ basa }) => ({
      simulate: `${basa} simulate model.py`,
      create: 'python3 create_task.py',
      device: 'python3 device.py',
    }),
  },
} as const satisfies Readonly<Record<string, Template>>;
type TemplateName = keyof typeof TEMPLATES;

const templateFlag = choice(Object.keys(TEMPLATES) as readonly TemplateName[], {
  help: 'node: devices run on Node; browser: devices run in browser tabs; tfjs: the model is a TensorFlow.js network; pytorch: a PyTorch module in Python',
  default: 'node',
});

export const newProject: Command = command({
  name: 'new',
  summary: 'create a project that runs: a model, data, and a program for the devices',
  takes: { '<folder>': 'folder for the project; it must be empty or not exist yet' },
  flags: { template: templateFlag },
  async run({ flags, positionals: [given], environment, terminal }) {
    if (given === undefined) throw new CommandError('name a folder for the project, for example `basa new my-project`');
    const folder = resolve(typedIn(environment), given);
    if (existsSync(folder) && (await readdir(folder)).length > 0)
      throw new CommandError(`${given} is not empty; name a folder that is empty or does not exist yet`);
    const files = await projectFiles(flags.template, await placeOf(folder));
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const isReady = await findPackages(folder, files);
    terminal.line(`${given}: ${TEMPLATES[flags.template].about}`);
    for (const path of Object.keys(files)) terminal.line(`  ${path}`);
    terminal.line('\nNext steps:\n');
    terminal.line(`  cd ${quoted(given)}`);
    if (!isReady) terminal.line('  npm install          # once');
    terminal.line('  npm run simulate     # trains with 20 virtual devices');
    terminal.line('\nREADME.md has the next steps: real services, and three devices that train together.');
    return { json: { folder, files: Object.keys(files), needsInstall: !isReady } };
  },
});

/** The folder in which the command was typed: `npm run` changes to that of its package.json. */
function typedIn({ npm_command: command, INIT_CWD: typed }: CommandInput['environment']): string {
  return command === 'run-script' && typed !== undefined ? typed : '.';
}

interface ProjectPlace {
  readonly name: string;
  /** The places from which npm gets our packages, by name. */
  readonly packages: Readonly<Record<string, string>>;
  /** The command that starts programs: with the packages from a clone, or as they are installed. */
  readonly run: string;
  /** The command that starts `basa`. */
  readonly basa: string;
  /** The flag with which a program is built from the packages of a clone. */
  readonly conditions: string;
}

/** Texts by their path in the project. */
type ProjectFiles = Readonly<Record<string, string>>;

const FOLDER = fileURLToPath(new URL('../../templates', import.meta.url));
/** Task and tokens belong to one deployment, and the folders of devices hold their keys: none of it belongs in git. */
const IGNORED = 'node_modules/\ntask.json\nenrolment/\ndevices/\nbasa-simulation/\n.basa-dev/\npublic/*.js\n';
const IGNORED_IN_PYTHON = '__pycache__/\nnet.json\nnet.safetensors\n';

/** Projects with tasks of one name on one server would train the same task, so `my-network` becomes the name of the project. */
async function projectFiles(name: TemplateName, place: ProjectPlace): Promise<ProjectFiles> {
  const template: Template = TEMPLATES[name];
  const { data, devDependencies, hasFiles, parents } = template;
  const words = {
    ...template.words,
    ...(place.conditions === '' && { '    "customConditions": ["@basa/source"],\n': '' }),
  };
  const copied: Record<string, string> = {};
  for (const folder of [...parents, name]) Object.assign(copied, await filesIn(folder, folder === name ? {} : words));
  if (data !== undefined) {
    const [half = ''] = /\n\/\*\* Training.*/s.exec((await filesIn(data, words))['model.ts'] ?? '') ?? [];
    copied['model.ts'] += half;
  }
  const { 'README.md': readme = '', 'steps.md': steps = '', 'export.md': taken = '', ...programs } = copied;
  const files = {
    'package.json': manifestOf(template, place),
    '.gitignore': devDependencies === undefined ? IGNORED + IGNORED_IN_PYTHON : IGNORED,
    'README.md': readme.replace('<!-- steps -->\n', steps).replace('<!-- export -->\n', taken),
    ...programs,
    ...(hasFiles && { 'data/train.csv': await exampleLines(1, 600), 'data/test.csv': await exampleLines(2, 300) }),
  };
  const named = (text: string): string => text.replaceAll('my-network', place.name);
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [path, named(text)]));
}

async function filesIn(folder: string, words: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const entries = await readdir(join(FOLDER, folder), { recursive: true, withFileTypes: true });
  const read = entries
    .filter((entry) => entry.isFile())
    .map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      let text = await readFile(path, 'utf8');
      for (const [word, other] of Object.entries(words)) text = text.replaceAll(word, other);
      return [relative(join(FOLDER, folder), path), text] as const;
    });
  return Object.fromEntries(await Promise.all(read));
}

function manifestOf(template: Template, place: ProjectPlace): string {
  const { dependencies = [], devDependencies } = template;
  const { name, packages, run, basa } = place;
  const tools = (names: readonly Tool[]) => Object.fromEntries(names.map((one) => [one, TOOLS[one]]));
  const isTyped = devDependencies !== undefined;
  const manifest = {
    name,
    private: true,
    ...(isTyped && { type: 'module' }),
    scripts: {
      basa,
      simulate: `${basa} simulate model.ts`,
      create: `${run} create-task.ts`,
      tokens: `${basa} keys make --count 3`,
      enrol: `${basa} keys enroll --hashes enrolment --task my-network`,
      ...template.scripts(place),
      ...(isTyped && { check: 'tsc -p .' }),
    },
    dependencies: { ...packages, ...tools(dependencies) },
    ...(isTyped && { devDependencies: tools([...devDependencies, ...(run === 'tsx' ? (['tsx'] as const) : [])]) }),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Points around one corner for each class, one line per example: its label, then its numbers. */
async function exampleLines(seed: number, count: number): Promise<string> {
  const { randomStream } = await import('@basa/learning');
  const random = randomStream(seed, 'measurements');
  const lines = Array.from({ length: count }, (_, n) => {
    const numbers = [0, 1, 2, 3].map((k) => (k === n % 3 ? 1 : 0) + 0.4 * random.normal());
    return [n % 3, ...numbers.map((value) => value.toFixed(3))].join(',');
  });
  return `${lines.join('\n')}\n`;
}

const isSource = import.meta.url.endsWith('.ts');
const packageFolder = fileURLToPath(new URL('../..', import.meta.url));
/** The folder whose node_modules this command runs from: the clone, or the project that installed it. */
const installedIn = resolve(packageFolder, isSource ? '../..' : '../../..');

/** The packages that the files of a project import. */
const USED = ['cli', 'client', 'learning', 'runtime'] as const;

async function placeOf(folder: string): Promise<ProjectPlace> {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]/g, '-');
  const packages = await packagesFor(folder);
  if (!isSource) return { name, packages, run: 'tsx', basa: 'basa', conditions: '' };
  const seen = (path: string): string => quoted(`./${relative(folder, join(installedIn, path))}`);
  const conditions = ' --conditions=@basa/source';
  const run = `node --import ${seen('scripts/typescript.mjs')}${conditions}`;
  return { name, packages, run, basa: `${run} ${seen('packages/cli/src/main.ts')}`, conditions };
}

/** npm links a folder outside the project and installs nothing for it, so its own dependencies stay in place. */
function linked(folder: string, foldersOfPackages: string): Record<string, string> {
  return Object.fromEntries(
    USED.map((one) => [`@basa/${one}`, `file:${relative(folder, join(foldersOfPackages, one))}`]),
  );
}

async function packagesFor(folder: string): Promise<Readonly<Record<string, string>>> {
  if (isSource) return linked(folder, join(installedIn, 'packages'));
  const account = join(installedIn, 'node_modules/.package-lock.json');
  const known = existsSync(account) ? (JSON.parse(await readFile(account, 'utf8')) as InstalledPackages) : undefined;
  return sourcesOf(known, installedIn, folder) ?? linked(folder, join(installedIn, 'node_modules/@basa'));
}

/** npm's list of installed packages. */
interface InstalledPackages {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly resolved?: string }>>;
}

/**
 * Our packages for a package.json in `folder`: by version if they came from a registry, otherwise by the files that
 * they came from. Undefined if npm kept no record, or if a file is gone.
 */
export function sourcesOf(
  known: InstalledPackages | undefined,
  root: string,
  folder: string,
  isThere: (path: string) => boolean = existsSync,
): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(known?.packages ?? {}).filter(([path]) => path.startsWith('node_modules/@basa/'));
  const found = entries.map(([path, { version, resolved = '' }]) => {
    const name = path.slice('node_modules/'.length);
    if (!resolved.startsWith('file:')) return [name, version];
    const file = resolve(root, resolved.slice('file:'.length));
    return [name, isThere(file) ? `file:${relative(folder, file)}` : undefined];
  });
  if (found.length === 0 || found.some(([, source]) => source === undefined)) return undefined;
  return Object.fromEntries(found) as Record<string, string>;
}

/**
 * Returns true if everything in its package.json is already installed. A project next to a clone with the development tools gets a link to
 * the clone's packages.
 */
async function findPackages(folder: string, files: ProjectFiles): Promise<boolean> {
  const parts = JSON.parse(files['package.json'] ?? '{}') as Record<string, Record<string, string>>;
  const names = Object.keys({ ...parts['dependencies'], ...parts['devDependencies'] });
  const hasAll = (places: readonly string[]): boolean =>
    names.every((name) => places.some((modules) => existsSync(join(modules, name))));
  if (hasAll(createRequire(join(folder, 'model.ts')).resolve.paths('x') ?? [])) return true;
  const modules = join(installedIn, 'node_modules');
  if (!isSource || !hasAll([modules])) return false;
  await symlink(modules, join(folder, 'node_modules'));
  return true;
}
