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
  'dry-run': yes('try every step in a transaction and roll it back; nothing is changed'),
  to: whole({
    min: 1,
    help: 'target format of the database; may be older than the current one',
    without: 'the newest that this version knows',
  }),
};

function migrate(name: ServiceName, load: () => Promise<Work>): Command {
  return command({
    name: `migrate ${name}`,
    summary: `create or update the database tables of the ${name}, or undo an update`,
    flags: FLAGS,
    notes: [
      `The database is the one in databaseUrl (BASA_${name.toUpperCase()}_DATABASE_URL, databaseUrlFile), or else the one in dataFolder.`,
      'Nodes on PostgreSQL may run meanwhile: an update only adds to the tables, and nodes of the previous version continue to work.',
      `If the ${name} uses a data folder, stop it first. It migrates automatically when it starts; use this command to try that beforehand, or to undo it.`,
      'To go back to an older version: stop all nodes, run this command with --to in the newer version, then start the older version.',
    ],
    async run(input) {
      const isDryRun = input.flags['dry-run'];
      const { from, to, steps } = await (await load())(placesOf(input), { to: input.flags.to, isDryRun });
      const line = from === to ? `the database has format ${to} already: nothing to do` : `format ${from} -> ${to}`;
      input.terminal.line(isDryRun && from !== to ? `${line}: the migration would work; nothing was changed` : line);
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
