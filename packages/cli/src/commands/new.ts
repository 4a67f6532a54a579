/** `basa new`: writes a project that runs: model, data, device, and a page that says what to type. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command, CommandInput } from '../command.ts';
import { CommandError, textFlag } from '../command.ts';
import type { ProjectPlace, Template } from '../templates/project.ts';

const TEMPLATES: Readonly<Record<string, () => Promise<Template>>> = {
  node: async () => (await import('../templates/node.ts')).nodeTemplate,
  browser: async () => (await import('../templates/browser.ts')).browserTemplate,
  tfjs: async () => (await import('../templates/tfjs.ts')).tfjsTemplate,
};

export const newProject: Command = {
  name: 'new',
  summary: 'writes a project of your own that runs: model, data, device',
  usage: `  <folder>             where; it must not hold anything yet
  --template <name>    node: devices on Node; browser: devices in tabs; tfjs: a network of TensorFlow.js (node)`,
  flags: { template: { type: 'string' } },
  positionals: 1,
  async run(input) {
    const { terminal } = input;
    const [given] = input.positionals;
    if (given === undefined) throw new CommandError('where? `basa new my-project`');
    const folder = resolve(given);
    const template = await templateOf(input);
    if (existsSync(folder) && (await readdir(folder)).length > 0)
      throw new CommandError(`${given} holds something already; name a folder that does not exist yet`);
    const files = template.files(await placeOf(folder));
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const findsPackages = await findPackages(folder);
    terminal.line(`${given}: ${template.about}`);
    for (const path of Object.keys(files)) terminal.line(`  ${path}`);
    terminal.line('\nnext:\n');
    terminal.line(`  cd ${given}`);
    if (!findsPackages) terminal.line('  npm install');
    terminal.line('  npm run simulate     # with 20 virtual devices');
    terminal.line('\nREADME.md goes on from there: real services, three devices, an opened sum.');
    return { json: { folder, files: Object.keys(files), needsInstall: !findsPackages } };
  },
};

function templateOf(input: CommandInput): Promise<Template> {
  const name = textFlag(input, 'template') ?? 'node';
  const template = Object.hasOwn(TEMPLATES, name) ? TEMPLATES[name] : undefined;
  if (template === undefined)
    throw new CommandError(`--template takes ${Object.keys(TEMPLATES).join(', ')}, got "${name}"`);
  return template();
}

const isSource = import.meta.url.endsWith('.ts');
const packageFolder = fileURLToPath(new URL('../..', import.meta.url));

async function placeOf(folder: string): Promise<ProjectPlace> {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]/g, '-');
  const manifest = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
  const { version } = manifest;
  if (!isSource) return { name, version, run: 'tsx', basa: 'basa' };
  const run = 'tsx --conditions=@basa/source';
  return { name, version, run, basa: `${run} ${relative(folder, join(packageFolder, 'src/main.ts'))}` };
}

/** A project beside a clone uses what the clone has installed; elsewhere packages are found above it, or have to be installed. */
async function findPackages(folder: string): Promise<boolean> {
  const finds = (): boolean => {
    const above = createRequire(join(folder, 'model.ts')).resolve.paths('@basa/client') ?? [];
    return above.some((modules) => existsSync(join(modules, '@basa/client')));
  };
  if (!finds() && isSource) await symlink(join(packageFolder, '../../node_modules'), join(folder, 'node_modules'));
  return finds();
}
