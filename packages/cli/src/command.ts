/** What a command of `basa` is: a name, words about it, its flags, and what it does. */
import type { ParseArgsConfig } from 'node:util';
import type { Terminal } from './terminal.ts';

export type Flags = NonNullable<ParseArgsConfig['options']>;

/** What every command takes. */
export const COMMON_FLAGS = {
  json: { type: 'boolean', default: false },
  debug: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const satisfies Flags;

export interface CommandInput {
  readonly values: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly positionals: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** What `--json` prints at the end, with the exit code where it is not 0. */
export interface CommandResult {
  readonly json: object;
  readonly exitCode?: number;
}

export interface Command {
  /** One or two words: `demo`, `task create`. */
  readonly name: string;
  readonly summary: string;
  /** The rest of `--help`: arguments and flags, one a line. */
  readonly usage: string;
  readonly flags: Flags;
  /** How many positional arguments it takes. */
  readonly positionals?: number;
  /** Printed before anything is loaded, where its own first words would come later than a second. */
  readonly opening?: string;
  /** Nobody watches it: a fault of the program is written with its stack, for the log. */
  readonly isService?: true;
  run(input: CommandInput): Promise<CommandResult>;
}

/** The documented exit codes; services have more of their own from 3 on (docs/cli.md). */
export const EXIT_CODE = {
  fine: 0,
  /** It ran, and what it was asked for did not come about. */
  failed: 1,
  /** The command line or a setting is wrong. */
  usage: 2,
  /** A service refused, or does not answer. */
  refused: 8,
  interrupted: 130,
  /** As a shell says of a program that writes to a pipe nobody reads any more. */
  unheard: 141,
} as const;

/** Something the person at the keyboard can mend; the sentence says how. */
export class CommandError extends Error {
  readonly exitCode: number;
  constructor(sentence: string, exitCode: number = EXIT_CODE.usage) {
    super(sentence);
    this.name = 'CommandError';
    this.exitCode = exitCode;
  }
}

/** Flags that each take a value. */
export function textFlags(...names: readonly string[]): Flags {
  return Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
}

export function textFlag(input: CommandInput, name: string): string | undefined {
  const value = input.values[name];
  return typeof value === 'string' ? value : undefined;
}

/** A whole number within bounds; the error names the flag. */
export function numberFlag(
  input: CommandInput,
  name: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER, fallback }: { min?: number; max?: number; fallback: number },
): number {
  const text = textFlag(input, name);
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < min || value > max)
    throw new CommandError(`--${name} takes a whole number from ${min} to ${max}, got "${text}"`);
  return value;
}

/** A flag, or else a variable of the environment; one of them is needed. */
export function needed(input: CommandInput, name: string, variable?: string): string {
  const value = textFlag(input, name) ?? (variable === undefined ? undefined : input.environment[variable]);
  if (value !== undefined && value !== '') return value;
  throw new CommandError(`--${name} is needed${variable === undefined ? '' : ` (or the variable ${variable})`}`);
}

/** 64 hexadecimal digits from a flag or a variable, whole: what is pinned may not be shortened. */
export function pinnedFlag(input: CommandInput, name: string, variable: string): string {
  const text = needed(input, name, variable).toLowerCase();
  if (!PINNED.test(text)) throw new CommandError(`--${name} (${variable}) takes 64 hexadecimal digits, got "${text}"`);
  return text;
}

/** One or several of them, with commas between them. */
export function pinnedFlags(input: CommandInput, name: string, variable: string): readonly string[] {
  const all = needed(input, name, variable).toLowerCase().split(',');
  for (const text of all)
    if (!PINNED.test(text))
      throw new CommandError(
        `--${name} (${variable}) takes 64 hexadecimal digits, of several authorities with commas between them; got "${text}"`,
      );
  return all;
}

const PINNED = /^[0-9a-f]{64}$/;
