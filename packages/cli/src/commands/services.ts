/** `basa server` and `basa authority`: one service each, as a process of its own. */
import type { Command, CommandInput } from '../command.ts';
import { textFlag } from '../command.ts';

const USAGE = `  --config <file>      a JSON file; see docs/operations.md for its keys
  Every key can also be set by a variable, for example PREFIX_PORT=7800. Secrets come from variables or files only.`;

type Run = (places: {
  readonly file: string | undefined;
  readonly environment: CommandInput['environment'];
}) => Promise<number>;

function service(name: 'server' | 'authority', summary: string, load: () => Promise<Run>): Command {
  return {
    name,
    summary,
    usage: USAGE.replace('PREFIX', `BASA_${name.toUpperCase()}`),
    flags: { config: { type: 'string' } },
    async run(input: CommandInput) {
      const run = await load();
      const exitCode = await run({ file: textFlag(input, 'config'), environment: input.environment });
      return { json: { stopped: exitCode === 0, exitCode }, exitCode };
    },
  };
}

export const server: Command = service(
  'server',
  'runs the aggregation server',
  async () => (await import('@basa/server')).runServer,
);
export const authority: Command = service(
  'authority',
  'runs the attribute authority',
  async () => (await import('@basa/authority')).runAuthority,
);
