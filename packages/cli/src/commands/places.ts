/** Where a service's configuration comes from, as every command about a service takes it. */
import { CommandError, type CommandInput, type Flags, textFlag } from '../command.ts';

export const CONFIG_FLAGS: Flags = { config: { type: 'string' }, set: { type: 'string', multiple: true } };

export const CONFIG_USAGE = `  --config <file>      a JSON file; \`basa config print\` explains its keys
  --set <key=value>    sets one key; it wins over file and variables; may be repeated`;

export interface Places {
  readonly file: string | undefined;
  readonly environment: CommandInput['environment'];
  readonly settings: readonly string[];
}

export function placesOf(input: CommandInput): Places {
  const { set } = input.values;
  return {
    file: textFlag(input, 'config'),
    environment: input.environment,
    settings: Array.isArray(set) ? set : [],
  };
}

export type ServiceName = 'server' | 'authority';

/** The positional argument that says which service is meant. */
export function serviceOf({ positionals: [name] }: CommandInput): ServiceName {
  if (name === 'server' || name === 'authority') return name;
  throw new CommandError(`say which service: server or authority${name === undefined ? '' : `, not "${name}"`}`);
}
