/** `basa server` and `basa authority`: each runs one service in this process. */

import { CONFIG_FLAGS, type Places, placesOf, type ServiceName } from '../flags/places.ts';
import { stopWithParent } from '../local/stop-with-parent.ts';
import { type Command, command } from '../shell/command.ts';
import { yes } from '../shell/flag.ts';

const PORT: Readonly<Record<ServiceName, string>> = {
  server: 'BASA_SERVER_PORT=7800',
  authority: 'BASA_AUTHORITY_PORT=7801',
};

interface Service {
  run(places: Places): Promise<number>;
  createTables(places: Places): Promise<unknown>;
}

const FLAGS = {
  ...CONFIG_FLAGS,
  'create-tables': yes('create the tables of an empty database and stop, if the role of the service may not'),
};

function service(name: ServiceName, summary: string, load: () => Promise<Service>): Command {
  return command({
    name,
    summary,
    flags: FLAGS,
    notes: [
      `You can also set every key with a variable, for example ${PORT[name]}. Give secrets only in variables or files.`,
      `Before you use it in production, run \`basa config check ${name}\` and \`basa doctor ${name}\`.`,
    ],
    opening: `starting the ${name}`,
    isService: true,
    async run(input) {
      stopWithParent(input.environment);
      const { run, createTables } = await load();
      input.signal.throwIfAborted(); // a signal, or the end of the parent, while the modules were loaded
      if (input.flags['create-tables']) {
        await createTables(placesOf(input));
        input.terminal.line(`the database has the tables of the ${name}`);
        return { json: { created: true } };
      }
      const exitCode = await run(placesOf(input));
      return { json: { stopped: exitCode === 0, exitCode }, exitCode };
    },
  });
}

export const server: Command = service('server', 'run the aggregation server', async () => {
  const { createServerTables, runServer } = await import('@basa/server');
  return { run: runServer, createTables: createServerTables };
});
export const authority: Command = service('authority', 'run the attribute authority', async () => {
  const { createAuthorityTables, runAuthority } = await import('@basa/authority');
  return { run: runAuthority, createTables: createAuthorityTables };
});
