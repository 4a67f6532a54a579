/** `basa new`: writes a complete project with a model, data, a device, and a README with the commands. */

import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Command, CommandError, type CommandInput, choice, command } from '../shell/command.ts';
import { quoted } from '../shell/process.ts';
import type { ProjectFiles, ProjectPlace, Template } from './template.ts';

const TEMPLATES = {
  node: async () => (await import('./template-node.ts')).nodeTemplate,
  browser: async () => (await import('./template-browser.ts')).browserTemplate,
  tfjs: async () => (await import('./template-tfjs.ts')).tfjsTemplate,
  pytorch: async () => (await import('./template-pytorch.ts')).pytorchTemplate,
} as const satisfies Readonly<Record<string, () => Promise<Template>>>;
const NAMES = Object.keys(TEMPLATES) as readonly (keyof typeof TEMPLATES)[];

const templateFlag = choice(NAMES, {
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
    const template = await TEMPLATES[flags.template]();
    if (existsSync(folder) && (await readdir(folder)).length > 0)
      throw new CommandError(`${given} is not empty; name a folder that is empty or does not exist yet`);
    const place = await placeOf(folder);
    const files = template.files(place);
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      // Projects with tasks of one name on one server would train the same task.
      await writeFile(join(folder, path), text.replaceAll('my-network', place.name));
    }
    const isReady = await findPackages(folder, files);
    terminal.line(`${given}: ${template.about}`);
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
  if (!isSource) return { name, packages, run: 'tsx', basa: 'basa' };
  const seen = (path: string): string => quoted(`./${relative(folder, join(installedIn, path))}`);
  const run = `node --import ${seen('scripts/typescript.mjs')} --conditions=@basa/source`;
  return { name, packages, run, basa: `${run} ${seen('packages/cli/src/main.ts')}` };
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
