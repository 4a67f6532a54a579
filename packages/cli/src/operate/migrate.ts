/** `basa migrate ...`: brings the tables of a shared database to a new version, before its nodes start. */

import { CONFIG_FLAGS, type Places, placesOf, type ServiceName } from '../flags/places.ts';
import { type Command, command } from '../shell/command.ts';

interface Migrated {
  readonly from: number;
  readonly to: number;
}

function migrate(name: ServiceName, load: () => Promise<(places: Places) => Promise<Migrated>>): Command {
  return command({
    name: `migrate ${name}`,
    summary: `makes or changes the tables of the ${name}'s PostgreSQL database`,
    flags: CONFIG_FLAGS,
    notes: [
      `databaseUrl comes from BASA_${name.toUpperCase()}_DATABASE_URL or databaseUrlFile.`,
      'Stop the nodes first where the format changes. A database in a data folder is migrated when its service starts.',
    ],
    async run(input) {
      const { from, to } = await (await load())(placesOf(input));
      input.terminal.line(from === to ? `format ${to}: nothing to do` : `format ${from} -> ${to}`);
      return { json: { from, to } };
    },
  });
}

export const migrateServer: Command = migrate('server', async () => (await import('@basa/server')).migrateServer);
export const migrateAuthority: Command = migrate(
  'authority',
  async () => (await import('@basa/authority')).migrateAuthority,
);
