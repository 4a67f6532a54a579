/** `basa server` and `basa authority`, which run a service in this process, and the care for its data: backups, and the secret of its keys. */
import { resolve } from 'node:path';
import * as flag from '../shell/command.ts';
import {
  type Command,
  CommandError,
  type CommandInput,
  type CommandResult,
  command,
  contentOf,
} from '../shell/command.ts';
import { stopWithParent } from '../shell/process.ts';
import { counted } from '../shell/terminal.ts';
import { CONFIG_FLAGS, type Places, placesOf, type ServiceName, serviceOf, TAKES_SERVICE } from './config.ts';

const described = (name: ServiceName, summary: string, variable: string) => ({
  name,
  summary,
  notes: [
    `You can also set every key with a variable, for example ${variable}. Give secrets only in variables or files.`,
    `Before you use it in production, run \`basa config check ${name}\` and \`basa doctor ${name}\`.`,
  ],
  opening: `starting the ${name}`,
  isService: true as const,
});

async function runHere(
  input: CommandInput<typeof CONFIG_FLAGS>,
  run: (places: Places) => Promise<number>,
): Promise<CommandResult> {
  input.signal.throwIfAborted(); // a signal, or the end of the parent, while the modules were loaded
  const exitCode = await run(placesOf(input));
  return { json: { stopped: exitCode === 0, exitCode }, exitCode };
}

export const server: Command = command({
  ...described('server', 'run the aggregation server', 'BASA_SERVER_PORT=7800'),
  flags: {
    ...CONFIG_FLAGS,
    'create-tables': flag.yes('create the tables of an empty database and stop, if the role of the service may not'),
  },
  async run(input) {
    stopWithParent(input.environment);
    const { createServerTables, runServer } = await import('@basa/server');
    if (!input.flags['create-tables']) return runHere(input, runServer);
    await createServerTables(placesOf(input));
    input.terminal.line('the database has the tables of the server');
    return { json: { created: true } };
  },
});

export const authority: Command = command({
  ...described('authority', 'run the attribute authority', 'BASA_AUTHORITY_PORT=7801'),
  flags: CONFIG_FLAGS,
  async run(input) {
    stopWithParent(input.environment);
    const { runAuthority } = await import('@basa/authority');
    return runHere(input, runAuthority);
  },
});

const APART: Readonly<Record<ServiceName, string>> = {
  server: 'The backup contains server.key: protect it as well as the data folder.',
  authority: 'The backup does not contain the key file or passphrase: store it separately.',
};

/** The data that a restored folder lacks (docs/operations.md). */
const FORGETS: Readonly<Record<ServiceName, string>> = {
  server: 'Updates that the server acknowledged since then are lost. Their devices train again on the next version.',
  authority:
    'Updates that wait for a sum are lost, because the secrets that open them are in no backup. Revocations since the backup are forgotten: revoke those devices again (`basa doctor server` names them). Devices enrolled since then keep their certificates.',
};
const ROLLBACK = 'A restore is a rollback: everything since the backup is forgotten.';

export const backup: Command = command({
  name: 'backup',
  summary: 'copy the data folder of a service while it runs',
  takes: TAKES_SERVICE,
  flags: {
    ...CONFIG_FLAGS,
    to: flag.needed({ value: 'folder', help: 'folder for the copy; it must be empty or not exist yet' }),
  },
  notes: [...Object.values(APART), 'If the server uses databaseUrl, back up the database with pg_dump.'],
  async run(input) {
    const { to } = input.flags;
    const service = serviceOf(input);
    const places = placesOf(input);
    const { files } = await (service === 'server'
      ? (await import('@basa/server')).backupServer(places, to)
      : (await import('@basa/authority')).backupAuthority(places, to));
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    input.terminal.line(`copied ${counted(files.length, 'file')}, ${bytes} bytes, to ${to}`);
    input.terminal.line(APART[service]);
    return { json: { to, files: files.length, bytes } };
  },
});

export const restore: Command = command({
  name: 'restore',
  summary: 'create the data folder of a service from a backup',
  takes: TAKES_SERVICE,
  flags: {
    ...CONFIG_FLAGS,
    from: flag.needed({
      value: 'folder',
      help: 'folder that `basa backup` wrote; the hash of every file is checked first',
    }),
  },
  notes: ['The dataFolder must be empty or not exist yet.', ROLLBACK, ...Object.values(FORGETS)],
  async run(input) {
    const { from } = input.flags;
    const service = serviceOf(input);
    const places = placesOf(input);
    const { files, madeAt } = await (service === 'server'
      ? (await import('@basa/server')).restoreServer(places, from)
      : (await import('@basa/authority')).restoreAuthority(places, from));
    input.terminal.line(`restored ${counted(files.length, 'file')} from the backup of ${madeAt}`);
    for (const line of [ROLLBACK, FORGETS[service]]) input.terminal.line(line);
    return { json: { from, madeAt, files: files.length } };
  },
});

const VARIABLE = 'BASA_AUTHORITY_NEW_PASSPHRASE';

const FLAGS = {
  ...CONFIG_FLAGS,
  'new-key-file': flag.text({
    value: 'file',
    help: 'file with 32 random bytes; to create it: head -c 32 /dev/urandom > new.key; chmod 600 new.key',
  }),
  'new-passphrase-file': flag.text({
    value: 'file',
    help: `file with a new passphrase, instead of a key file (variable with the passphrase: ${VARIABLE})`,
  }),
};

export const keysRotateVault: Command = command({
  name: 'keys rotate-vault',
  summary: "encrypt the authority's keys with another passphrase or key file",
  flags: FLAGS,
  notes: [
    'First stop the authority. The configuration must still name the current secret; change it afterwards.',
    'Either all keys are encrypted again or none. Older backups still need the old secret: keep it, or destroy those backups.',
  ],
  async run(input) {
    const fresh = await secretOf(input);
    const { rotateVault } = await import('@basa/authority');
    const { sealedKeys } = await rotateVault(placesOf(input), fresh);
    const what = 'keyFile' in fresh ? `"keyFile": "${resolve(fresh.keyFile)}"` : 'the new passphrase';
    input.terminal.line(
      `encrypted the signing key and ${counted(sealedKeys, 'secret')} again; start the authority with ${what}`,
    );
    return { json: { sealedKeys } };
  },
});

async function secretOf({
  flags,
  environment,
}: CommandInput<typeof FLAGS>): Promise<{ readonly keyFile: string } | { readonly passphrase: string }> {
  const { 'new-key-file': keyFile, 'new-passphrase-file': file } = flags;
  const passphrase =
    file === undefined
      ? environment[VARIABLE]
      : await contentOf('--new-passphrase-file', file, (text) => String(text).replace(/\r?\n$/, ''));
  if (keyFile !== undefined && passphrase === undefined) return { keyFile };
  if (passphrase !== undefined && keyFile === undefined) return { passphrase };
  throw new CommandError(
    `give exactly one new secret: --new-key-file, --new-passphrase-file, or the variable ${VARIABLE}`,
  );
}
