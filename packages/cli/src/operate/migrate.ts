/** `basa migrate ...`: the tables of a service, before it starts with another version, and back. */

import { CONFIG_FLAGS, type Places, placesOf, type ServiceName } from '../flags/places.ts';
import { type Command, command } from '../shell/command.ts';
import { whole, yes } from '../shell/flag.ts';

interface Migrated {
  readonly from: number;
  readonly to: number;
  readonly steps: readonly string[];
}
interface Wish {
  readonly to: number | undefined;
  readonly isDryRun: boolean;
}
type Work = (places: Places, wish: Wish) => Promise<Migrated>;

const FLAGS = {
  ...CONFIG_FLAGS,
  'dry-run': yes('takes every step in a transaction and takes it back; nothing is changed'),
  to: whole({ min: 1, help: 'the format to end with, also an older one', without: 'the newest of this version' }),
};

function migrate(name: ServiceName, load: () => Promise<Work>): Command {
  return command({
    name: `migrate ${name}`,
    summary: `makes or changes the tables of the ${name}, or takes a change back`,
    flags: FLAGS,
    notes: [
      `The database is databaseUrl (BASA_${name.toUpperCase()}_DATABASE_URL, databaseUrlFile) or the one in dataFolder.`,
      'Nodes on PostgreSQL may run meanwhile: a change adds, and nodes of the version before do not miss what was added.',
      `Stop a ${name} with a data folder first. It migrates by itself when it starts; this command tries that before, or takes it back.`,
      'To go back to an older version: stop all nodes, run this command of the newer version with --to, start the older one.',
    ],
    async run(input) {
      const isDryRun = input.flags['dry-run'];
      const { from, to, steps } = await (await load())(placesOf(input), { to: input.flags.to, isDryRun });
      const line = from === to ? `format ${to}: nothing to do` : `format ${from} -> ${to}`;
      input.terminal.line(isDryRun && from !== to ? `${line}: it works; nothing was changed` : line);
      if (isDryRun) for (const step of steps) input.terminal.line(`  ${step}`);
      return { json: { from, to, isDryRun, steps } };
    },
  });
}

export const migrateServer: Command = migrate('server', async () => (await import('@basa/server')).migrateServer);
export const migrateAuthority: Command = migrate(
  'authority',
  async () => (await import('@basa/authority')).migrateAuthority,
);
