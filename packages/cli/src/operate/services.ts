/** `basa server` and `basa authority`: each runs one service in this process. */

import { CONFIG_FLAGS, type Places, placesOf, type ServiceName } from '../flags/places.ts';
import { stopWithParent } from '../local/stop-with-parent.ts';
import { type Command, command } from '../shell/command.ts';

const PORT: Readonly<Record<ServiceName, string>> = {
  server: 'BASA_SERVER_PORT=7800',
  authority: 'BASA_AUTHORITY_PORT=7801',
};

type Run = (places: Places) => Promise<number>;

function service(name: ServiceName, summary: string, load: () => Promise<Run>): Command {
  return command({
    name,
    summary,
    flags: CONFIG_FLAGS,
    notes: [
      `You can also set every key with a variable, for example ${PORT[name]}. Give secrets only in variables or files.`,
      `Before you use it in production, run \`basa config check ${name}\` and \`basa doctor ${name}\`.`,
    ],
    opening: `starting the ${name}`,
    isService: true,
    async run(input) {
      stopWithParent(input.environment);
      const run = await load();
      input.signal.throwIfAborted(); // a signal, or the end of the parent, while the modules were loaded
      const exitCode = await run(placesOf(input));
      return { json: { stopped: exitCode === 0, exitCode }, exitCode };
    },
  });
}

export const server: Command = service(
  'server',
  'run the aggregation server',
  async () => (await import('@basa/server')).runServer,
);
export const authority: Command = service(
  'authority',
  'run the attribute authority',
  async () => (await import('@basa/authority')).runAuthority,
);
