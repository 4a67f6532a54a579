/** `basa migrate ...`: the tables of a database that several nodes share, before they start with a new version. */
import type { Command, CommandInput } from '../command.ts';
import { CommandError, textFlag } from '../command.ts';

const USAGE = `  --config <file>      the configuration of the service; databaseUrl comes from PREFIX_DATABASE_URL or databaseUrlFile
  Stop the nodes first where the format changes. A database in a data folder is migrated when its service starts.`;

interface Migrated {
  readonly from: number;
  readonly to: number;
}

type Migrate = (places: {
  readonly file: string | undefined;
  readonly environment: CommandInput['environment'];
}) => Promise<Migrated>;

function migrate(name: string, load: () => Promise<Migrate>): Command {
  return {
    name: `migrate ${name}`,
    summary: `makes or changes the tables of the ${name}'s PostgreSQL database`,
    usage: USAGE.replace('PREFIX', `BASA_${name.toUpperCase()}`),
    flags: { config: { type: 'string' } },
    async run(input) {
      const run = await load();
      const { EXIT, StartError } = await import('@basa/service');
      const places = { file: textFlag(input, 'config'), environment: input.environment };
      const { from, to } = await run(places).catch((error: unknown) => {
        throw error instanceof StartError ? new CommandError(error.message, EXIT[error.reason]) : error;
      });
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
