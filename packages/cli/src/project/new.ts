/** `basa new`: writes a complete project with a model, data, a device, and a README with the commands. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Command, CommandError, type CommandInput, command } from '../shell/command.ts';
import { choice } from '../shell/flag.ts';
import { quoted } from '../shell/invocation.ts';
import { findPackages, placeOf } from './place.ts';
import type { Template } from './template.ts';

const TEMPLATES = {
  node: async () => (await import('./template-node.ts')).nodeTemplate,
  browser: async () => (await import('./template-browser.ts')).browserTemplate,
  tfjs: async () => (await import('./template-tfjs.ts')).tfjsTemplate,
} as const satisfies Readonly<Record<string, () => Promise<Template>>>;
const NAMES = Object.keys(TEMPLATES) as readonly (keyof typeof TEMPLATES)[];

const templateFlag = choice(NAMES, {
  help: 'node: devices run on Node; browser: devices run in browser tabs; tfjs: the model is a TensorFlow.js network',
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
