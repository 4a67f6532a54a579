/** `basa device export` and `basa device import`: the devices of a task go on in the task that succeeds it. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuthorityOperator } from '@basa/client/operator';
import { AUTHORITY_FLAGS, authorityOperator } from '../flags/connection.ts';
import { agreedTask } from '../flags/which.ts';
import { type Command, CommandError, command } from '../shell/command.ts';
import { needed, text } from '../shell/flag.ts';
import { counted } from '../shell/terminal.ts';

type ExportedDevices = Awaited<ReturnType<AuthorityOperator['exportDevices']>>[number];

export const deviceExport: Command = command({
  name: 'device export',
  summary:
    'write the devices of a task into a file, signed for the task that succeeds it, as the owner of an authority',
  flags: {
    task: needed({ value: 'task', help: 'name or first digits of the task', variable: 'BASA_TASK' }),
    successor: needed({ value: 'hex', help: 'the task that succeeds it, all 64 digits' }),
    out: text({ value: 'folder', help: 'folder for the file of each authority', default: 'exported-devices' }),
    ...AUTHORITY_FLAGS,
  },
  notes: ['Finish the task first (`basa task finish`): what its devices spend later is not in the file.'],
  async run(input) {
    const { task: named, successor, out } = input.flags;
    if (!/^[0-9a-f]{64}$/.test(successor))
      throw new CommandError(`--successor takes the 64 digits that \`basa task create\` prints, got "${successor}"`);
    const authority = await authorityOperator(input);
    const told = await authority.exportDevices(await agreedTask(named, authority), successor);
    await mkdir(out, { recursive: true, mode: 0o700 });
    const files: string[] = [];
    for (const one of told) {
      const file = join(out, `${one.authority.slice(0, 16)}.json`);
      await writeFile(file, `${JSON.stringify(one)}\n`, { mode: 0o600 });
      files.push(file);
    }
    input.terminal.line(
      'Give these files to the owners of the authorities of the successor, for `basa device import`:',
    );
    for (const file of files) input.terminal.line(`  ${file}`);
    return { json: { files } };
  },
});

export const deviceImport: Command = command({
  name: 'device import',
  summary: 'let in the devices of the task before this one, as the owner of an authority',
  takes: { '<file>': 'file that `basa device export` wrote; name those of all authorities of the task before' },
  takesMany: true,
  flags: {
    task: needed({ value: 'task', help: 'name or first digits of the successor', variable: 'BASA_TASK' }),
    ...AUTHORITY_FLAGS,
  },
  notes: [
    'A device is let in, or stays revoked, if more authorities of the task before say so than may collude there. It then connects with its folder and `--predecessor`.',
  ],
  async run(input) {
    if (input.positionals.length === 0)
      throw new CommandError('name the files that `basa device export` wrote at the authorities of the task before');
    const files = await Promise.all(input.positionals.map(readExport));
    const authority = await authorityOperator(input);
    const task = await agreedTask(input.flags.task, authority);
    let told = { enrolled: 0, revoked: 0, unknown: 0 };
    for (const file of files) told = await authority.importDevices(task, file);
    input.terminal.line(`${counted(told.enrolled, 'device')} may enrol, ${told.revoked} revoked`);
    if (told.unknown > 0)
      input.terminal.warn(
        `${counted(told.unknown, 'device')} of too few authorities; import the files of the other authorities too`,
      );
    return { json: told };
  },
});

async function readExport(path: string): Promise<ExportedDevices> {
  try {
    const { authority, policy, pages } = Object(JSON.parse(await readFile(path, 'utf8'))) as Partial<ExportedDevices>;
    if (typeof authority !== 'string' || typeof policy !== 'string' || !Array.isArray(pages) || pages.length === 0)
      throw new Error('it has no devices');
    return { authority, policy, pages: pages.map(String) };
  } catch (error) {
    throw new CommandError(`${path}: ${(error as Error).message}`);
  }
}
