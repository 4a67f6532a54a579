/** `basa backup ...` while the service runs, and `basa restore ...` into an empty folder. */

import { CONFIG_FLAGS, type Places, placesOf, type ServiceName } from '../flags/places.ts';
import { type Command, command } from '../shell/command.ts';
import { needed } from '../shell/flag.ts';
import { counted } from '../shell/terminal.ts';

interface Manifest {
  readonly madeAt: string;
  readonly files: readonly { readonly bytes: number }[];
}
type Work = (places: Places, folder: string) => Promise<Manifest>;

const APART: Readonly<Record<ServiceName, string>> = {
  server: 'It holds server.key: keep it as safe as the data folder.',
  authority:
    'It holds neither the key file or passphrase nor the witness: keep the first apart from it, and never restore the second.',
};

/** The data that a restored folder lacks (docs/operations.md). */
const FORGETS: Readonly<Record<ServiceName, readonly string[]>> = {
  server: [
    'A restored folder is a rollback: what happened since the backup is forgotten.',
    'Buffers it forgot are aborted by the authority when their time is over, and their updates go elsewhere.',
    'Behind a model that the authority has logged, it draws no more buffers of that task: create a new one from its newest model.',
  ],
  authority: [
    'A restored folder is a rollback: what happened since the backup is forgotten.',
    'At its start it gives up every buffer that was open in the backup. Leave its witness where it is: it shows the rollback.',
    'Revocations since are forgotten: revoke again. Behind a logged model, the server draws no more buffers of that task.',
  ],
};

function backup(service: ServiceName, load: () => Promise<Work>): Command {
  return command({
    name: `backup ${service}`,
    summary: `copies the ${service}'s data folder while it runs`,
    flags: { ...CONFIG_FLAGS, to: needed({ value: 'folder', help: 'where to; empty, or not there yet' }) },
    notes: [APART[service], 'With databaseUrl the database is backed up with pg_dump.'],
    async run(input) {
      const { to } = input.flags;
      const { files } = await (await load())(placesOf(input), to);
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      input.terminal.line(`${counted(files.length, 'file')}, ${bytes} bytes, in ${to}`);
      input.terminal.line(APART[service]);
      return { json: { to, files: files.length, bytes } };
    },
  });
}

function restore(service: ServiceName, load: () => Promise<Work>): Command {
  return command({
    name: `restore ${service}`,
    summary: `makes a data folder of the ${service} from a backup`,
    flags: {
      ...CONFIG_FLAGS,
      from: needed({
        value: 'folder',
        help: `what \`basa backup ${service}\` made; every file is held to its hash first`,
      }),
    },
    notes: ['dataFolder must be empty, or not be there yet.', ...FORGETS[service]],
    async run(input) {
      const { from } = input.flags;
      const { files, madeAt } = await (await load())(placesOf(input), from);
      input.terminal.line(`restored: ${counted(files.length, 'file')} of ${madeAt}`);
      for (const line of FORGETS[service]) input.terminal.line(line);
      return { json: { from, madeAt, files: files.length } };
    },
  });
}

export const backupServer: Command = backup('server', async () => (await import('@basa/server')).backupServer);
export const backupAuthority: Command = backup(
  'authority',
  async () => (await import('@basa/authority')).backupAuthority,
);
export const restoreServer: Command = restore('server', async () => (await import('@basa/server')).restoreServer);
export const restoreAuthority: Command = restore(
  'authority',
  async () => (await import('@basa/authority')).restoreAuthority,
);
