/** A command: a name, its help texts, a table of its flags, and its function. */
import type { ParseArgsConfig } from 'node:util';
import type { Flags, Values } from './flag.ts';
import type { Terminal } from './terminal.ts';

export { CommandError, EXIT_CODE } from './command-error.ts';

/** Every command takes these. */
export const COMMON_FLAGS = {
  json: { type: 'boolean', default: false },
  debug: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const satisfies ParseArgsConfig['options'];

export interface CommandInput<F extends Flags = Flags> {
  readonly flags: Values<F>;
  readonly positionals: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** The command line as it was typed: every value of every flag. */
export type Typed = Omit<CommandInput, 'flags'> & {
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
};

/** The output of `--json` at the end, with the exit code if it is not 0. */
export interface CommandResult {
  readonly json: object;
  readonly exitCode?: number;
}

interface Described {
  /** One or two words: `demo`, `task create`. */
  readonly name: string;
  readonly summary: string;
  /** Positional arguments in order, each with its help text. */
  readonly takes?: Readonly<Record<string, string>>;
  /** The last argument may be any number of words. */
  readonly takesMany?: true;
  /** Lines of help below the flags. */
  readonly notes?: readonly string[];
  /** Printed before anything is loaded, if its own first output would take more than a second. */
  readonly opening?: string;
  /** It runs unattended: a fault of the program is logged with its stack. */
  readonly isService?: true;
}

export interface Command extends Described {
  readonly flags: Flags;
  run(typed: Typed): Promise<CommandResult>;
}

/** Flags are read before anything is done. */
export function command<F extends Flags>(
  described: Described & { readonly flags: F; run(input: CommandInput<F>): Promise<CommandResult> },
): Command {
  const { run, ...rest } = described;
  return {
    ...rest,
    run: async ({ values, ...typed }) => run({ ...typed, flags: valuesOf(described.flags, values, typed.environment) }),
  };
}

function valuesOf<F extends Flags>(flags: F, values: Typed['values'], environment: Typed['environment']): Values<F> {
  const read = Object.entries(flags).map(([name, flag]) => {
    const typed = [values[name] ?? []].flat().map((one) => (one === true ? '1' : String(one)));
    const variable = flag.variable === undefined ? undefined : environment[flag.variable];
    return [name, flag.read(typed.length > 0 || variable === undefined ? typed : [variable], name)];
  });
  return Object.fromEntries(read) as Values<F>;
}
