/** The sources of a service's configuration, as flags of every command about a service. */
import { CommandError, type CommandInput } from '../shell/command.ts';
import { text, texts } from '../shell/flag.ts';

export const CONFIG_FLAGS = {
  config: text({ value: 'file', help: 'JSON file with the configuration; `basa config print` explains its keys' }),
  set: texts({ value: 'key=value', help: 'set one key; overrides the file and the variables' }),
};

export interface Places {
  readonly file: string | undefined;
  readonly environment: CommandInput['environment'];
  readonly settings: readonly string[];
}

export function placesOf({ flags, environment }: CommandInput<typeof CONFIG_FLAGS>): Places {
  return { file: flags.config, environment, settings: flags.set };
}

export type ServiceName = 'server' | 'authority';

/** The positional argument that names the service. */
export function serviceOf({ positionals: [name] }: Pick<CommandInput, 'positionals'>): ServiceName {
  if (name === 'server' || name === 'authority') return name;
  throw new CommandError(
    name === undefined
      ? 'name a service: server or authority'
      : `there is no service "${name}"; choose server or authority`,
  );
}
