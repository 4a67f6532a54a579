/** `basa server` and `basa authority`: each runs one service in this process. */

import { CONFIG_FLAGS, type Places, placesOf, type ServiceName } from '../flags/places.ts';
import { stopWithParent } from '../local/stop-with-parent.ts';
import { type Command, type CommandInput, type CommandResult, command } from '../shell/command.ts';
import { yes } from '../shell/flag.ts';

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
    'create-tables': yes('create the tables of an empty database and stop, if the role of the service may not'),
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
