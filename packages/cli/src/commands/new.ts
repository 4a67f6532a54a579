/** `basa new`: writes a project that runs: model, data, device, and a page that says what to type. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Command, CommandError, type CommandInput, textFlag } from '../command.ts';
import { findPackages, placeOf } from '../templates/place.ts';
import type { Template } from '../templates/project.ts';

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
    const isReady = await findPackages(folder, files);
    terminal.line(`${given}: ${template.about}`);
    for (const path of Object.keys(files)) terminal.line(`  ${path}`);
    terminal.line('\nnext:\n');
    terminal.line(`  cd ${given}`);
    if (!isReady) terminal.line('  npm install');
    terminal.line('  npm run simulate     # with 20 virtual devices');
    terminal.line('\nREADME.md goes on from there: real services, three devices, an opened sum.');
    return { json: { folder, files: Object.keys(files), needsInstall: !isReady } };
  },
};

function templateOf(input: CommandInput): Promise<Template> {
  const name = textFlag(input, 'template') ?? 'node';
  const template = Object.hasOwn(TEMPLATES, name) ? TEMPLATES[name] : undefined;
  if (template === undefined)
    throw new CommandError(`--template takes ${Object.keys(TEMPLATES).join(', ')}, got "${name}"`);
  return template();
}
