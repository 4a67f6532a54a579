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
  server: 'The backup contains server.key: protect it as well as the data folder.',
  authority: 'The backup does not contain the key file or passphrase: store it separately.',
};

/** The data that a restored folder lacks (docs/operations.md). */
const FORGETS: Readonly<Record<ServiceName, readonly string[]>> = {
  server: [
    'A restore is a rollback: everything since the backup is forgotten.',
    'Updates that the server acknowledged since then are lost. Their devices train again on the next version.',
  ],
  authority: [
    'A restore is a rollback: everything since the backup is forgotten.',
    'Updates that wait for a sum are lost, because the secrets that open them are in no backup.',
    'Revocations since the backup are forgotten: revoke those devices again (`basa doctor server` names them). Devices enrolled since then keep their certificates.',
  ],
};

function backup(service: ServiceName, load: () => Promise<Work>): Command {
  return command({
    name: `backup ${service}`,
    summary: `copy the data folder of the ${service} while it runs`,
    flags: {
      ...CONFIG_FLAGS,
      to: needed({ value: 'folder', help: 'folder for the copy; it must be empty or not exist yet' }),
    },
    notes: NOTES[service],
    async run(input) {
      const { to } = input.flags;
      const { files } = await (await load())(placesOf(input), to);
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      input.terminal.line(`copied ${counted(files.length, 'file')}, ${bytes} bytes, to ${to}`);
      input.terminal.line(APART[service]);
      return { json: { to, files: files.length, bytes } };
    },
  });
}

const NOTES: Readonly<Record<ServiceName, readonly string[]>> = {
  server: [APART.server, 'If the server uses databaseUrl, back up the database with pg_dump.'],
  authority: [APART.authority],
};

function restore(service: ServiceName, load: () => Promise<Work>): Command {
  return command({
    name: `restore ${service}`,
    summary: `create the data folder of the ${service} from a backup`,
    flags: {
      ...CONFIG_FLAGS,
      from: needed({
        value: 'folder',
        help: `folder that \`basa backup ${service}\` wrote; the hash of every file is checked first`,
      }),
    },
    notes: ['The dataFolder must be empty or not exist yet.', ...FORGETS[service]],
    async run(input) {
      const { from } = input.flags;
      const { files, madeAt } = await (await load())(placesOf(input), from);
      input.terminal.line(`restored ${counted(files.length, 'file')} from the backup of ${madeAt}`);
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
