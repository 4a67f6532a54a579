/** `basa migrate ...`: the tables of a database that several nodes share, before they start with a new version. */
import type { Command } from '../command.ts';
import { CONFIG_FLAGS, CONFIG_USAGE, type Places, placesOf, type ServiceName } from './places.ts';

const USAGE = `${CONFIG_USAGE}
  databaseUrl comes from PREFIX_DATABASE_URL or databaseUrlFile.
  Stop the nodes first where the format changes. A database in a data folder is migrated when its service starts.`;

interface Migrated {
  readonly from: number;
  readonly to: number;
}

function migrate(name: ServiceName, load: () => Promise<(places: Places) => Promise<Migrated>>): Command {
  return {
    name: `migrate ${name}`,
    summary: `makes or changes the tables of the ${name}'s PostgreSQL database`,
    usage: USAGE.replace('PREFIX', `BASA_${name.toUpperCase()}`),
    flags: CONFIG_FLAGS,
    async run(input) {
      const { from, to } = await (await load())(placesOf(input));
      input.terminal.line(from === to ? `format ${to}: nothing to do` : `format ${from} -> ${to}`);
      return { json: { from, to } };
    },
  };
}

export const migrateServer: Command = migrate('server', async () => (await import('@basa/server')).migrateServer);
export const migrateAuthority: Command = migrate(
  'authority',
  async () => (await import('@basa/authority')).migrateAuthority,
);
