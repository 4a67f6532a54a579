/** One flag of a command: its parser, its default, and its help text. A command has a table of them. */

import { readFile } from 'node:fs/promises';
import type { ParseArgsConfig } from 'node:util';
import type { Terminal } from './terminal.ts';

/** The documented exit codes; services have more of their own from 3 on (docs/cli.md). */
export const EXIT_CODE = {
  fine: 0,
  /** The command ran, but did not succeed. */
  failed: 1,
  /** The command line or a setting is wrong. */
  usage: 2,
  /** A service refused, or does not answer. */
  refused: 8,
  interrupted: 130,
  /** The code that shells use for a program whose output pipe was closed. */
  unheard: 141,
} as const;

/** An error that the user can fix; the sentence says how. */
export class CommandError extends Error {
  readonly exitCode: number;
  constructor(sentence: string, exitCode: number = EXIT_CODE.usage) {
    super(sentence);
    this.name = 'CommandError';
    this.exitCode = exitCode;
  }
}

export interface Flag<T> {
  readonly help: string;
  /** The placeholder for the value in the help. A flag without a placeholder is a switch. */
  readonly value?: string;
  /** It may be given several times. */
  readonly isList?: true;
  /** The environment variable that is read if the flag is not given. */
  readonly variable?: string;
  /** The default, shown in brackets after the help. */
  readonly without?: string;
  /** `given`: every value that was typed, or that of the variable; empty if there is neither. */
  read(given: readonly string[], name: string): T;
}

/** A table of flags, by the name that people type after the dashes. */
export type Flags = Readonly<Record<string, Flag<unknown>>>;
/** The values of its flags, as a command gets them. */
export type Values<F extends Flags> = { readonly [Name in keyof F]: F[Name] extends Flag<infer T> ? T : never };

interface Told<T> {
  readonly help: string;
  readonly value?: string;
  readonly variable?: string;
  readonly default?: T;
  /** Replaces the default in the help, if it needs more explanation. */
  readonly without?: string;
}
type WithDefault<T> = Told<T> & { readonly default: T };

/** A switch: on if it is given. */
export function yes(help: string, variable?: string): Flag<boolean> {
  return {
    help,
    ...(variable !== undefined && { variable }),
    read: ([given]) => given === '1',
  };
}

export function text(told: WithDefault<string>): Flag<string>;
export function text(told: Told<string>): Flag<string | undefined>;
export function text(told: Told<string>): Flag<string | undefined> {
  return flagOf({ value: 'text', ...told }, (given) => given);
}

/** May be given any number of times. */
export function texts({ help, value = 'text' }: Told<string>): Flag<readonly string[]> {
  return { help: `${help}; can be repeated`, value, isList: true, read: (given) => given };
}

/** Text that a command requires. */
export function needed(told: Told<string>): Flag<string> {
  return neededAs(told, (given) => given);
}

/**
 * At most `most` names of 64 hexadecimal digits, comma-separated. They are required and complete: a pinned name must not be shortened.
 */
export function pinned(
  told: Told<string> & { readonly variable: string },
  most = Number.POSITIVE_INFINITY,
): Flag<readonly string[]> {
  const takes = `64 hexadecimal digits${most === 1 ? '' : ', or several such values separated by commas'}`;
  return neededAs({ value: 'hex', ...told }, (given, name) => {
    const all = given.toLowerCase().split(',');
    if (all.length <= most && all.every((one) => /^[0-9a-f]{64}$/.test(one))) return all;
    throw new CommandError(`--${name} (${told.variable}) takes ${takes}, got "${given.toLowerCase()}"`);
  });
}

function neededAs<T>(told: Told<string>, read: (given: string, name: string) => T): Flag<T> {
  const { variable } = told;
  return {
    ...flagOf({ value: 'text', ...told }, (given) => given),
    read([given = ''], name) {
      if (given !== '') return read(given, name);
      const also = variable === undefined ? '' : `, or set the variable ${variable}`;
      throw new CommandError(`--${name} is missing: add it${also}`);
    },
  };
}

/** A whole number within bounds. */
export function whole(told: WithDefault<number> & Bounds): Flag<number>;
export function whole(told: Told<number> & Bounds): Flag<number | undefined>;
export function whole(told: Told<number> & Bounds): Flag<number | undefined> {
  return flagOf({ value: 'n', ...told }, (given, name) => wholeNumber(given, name, told));
}

interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

export function wholeNumber(given: string, name: string, { min = 0, max = Number.MAX_SAFE_INTEGER }: Bounds): number {
  const value = Number(given);
  if (given !== '' && Number.isSafeInteger(value)) return within(value, name, { min, max });
  throw new CommandError(`--${name} takes a whole number from ${min} to ${max}, got "${given}"`);
}

/** For bounds that another flag gives. */
export function within(value: number, name: string, { min = 0, max = Number.MAX_SAFE_INTEGER }: Bounds): number {
  if (value >= min && value <= max) return value;
  throw new CommandError(`--${name} takes a whole number from ${min} to ${max}, got "${value}"`);
}

export function positive(told: WithDefault<number>): Flag<number>;
export function positive(told: Told<number>): Flag<number | undefined>;
export function positive(told: Told<number>): Flag<number | undefined> {
  return parsed({ value: 'x', ...told }, 'a positive number', (given) => {
    const value = Number(given);
    return value > 0 && value < Number.POSITIVE_INFINITY ? value : undefined;
  });
}

/** One of some words. */
export function choice<T extends string>(names: readonly T[], told: WithDefault<T>): Flag<T>;
export function choice<T extends string>(names: readonly T[], told: Told<T>): Flag<T | undefined>;
export function choice<T extends string>(names: readonly T[], told: Told<T>): Flag<T | undefined> {
  const words = names.length === 2 ? names.join(' or ') : names.join(', ');
  return flagOf({ value: 'name', ...told }, (given, name) => {
    const value = names.find((one) => one === given);
    if (value !== undefined) return value;
    throw new CommandError(`--${name} takes ${words}, got "${given}"`);
  });
}

/** Anything else: `read` returns undefined for a value it rejects, and `takes` describes the accepted values. */
export function parsed<T>(told: WithDefault<T>, takes: string, read: (given: string) => T | undefined): Flag<T>;
export function parsed<T>(told: Told<T>, takes: string, read: (given: string) => T | undefined): Flag<T | undefined>;
export function parsed<T>(told: Told<T>, takes: string, read: (given: string) => T | undefined): Flag<T | undefined> {
  return flagOf(told, (given, name) => {
    const value = read(given);
    if (value !== undefined) return value;
    throw new CommandError(`--${name} takes ${takes}, got "${given}"`);
  });
}

function flagOf<T>(told: Told<T>, read: (given: string, name: string) => T): Flag<T | undefined> {
  const { help, value, variable } = told;
  const without = told.without ?? (told.default === undefined ? undefined : String(told.default));
  return {
    help,
    ...(value !== undefined && { value }),
    ...(variable !== undefined && { variable }),
    ...(without !== undefined && { without }),
    read: ([given], name) => (given === undefined ? told.default : read(given, name)),
  };
}

/** What a file holds; `name` is the flag or the path that an error begins with. */
export async function contentOf<T>(name: string, path: string, read: (bytes: Buffer) => T | Promise<T>): Promise<T> {
  try {
    return await read(await readFile(path));
  } catch (error) {
    throw new CommandError(`${name} ${path}: ${(error as Error).message}`.trimStart());
  }
}

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

/** The same object without the fields that are undefined, for settings whose fields are given or missing. */
export function defined<T extends object>(fields: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

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
