/** `basa <command>`, or another program of commands: finds the command, reads its flags, and turns the result into text and an exit code. */

import { setMaxListeners } from 'node:events';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { COMMON_FLAGS, type Command, CommandError, EXIT_CODE, type Flag, type Typed } from './command.ts';
import { fitted, versionText } from './process.ts';
import { sentenceOf } from './sentences.ts';
import { createTerminal, type OutStream, printable, printableJson, type Streams } from './terminal.ts';

/** Ctrl-C, a regular stop, and a terminal that was closed. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Resolves with the exit code. `typed` is the command that a person types to start the program; hints are written with it. */
export async function runProgram(
  program: Program,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  { stdout, stderr }: Streams = process,
  typed = program.name,
): Promise<number> {
  const own = ownArgs(args);
  const isJson = own.includes('--json');
  const isDebug = own.includes('--debug') || environment['BASA_DEBUG'] === '1';
  const say = (text: string, code: number): number => {
    stdout.write(`${fitted(text, typed)}\n`);
    return code;
  };
  /** Help texts use `basa`, but some users type another command. */
  const explain = (text: string, code: number): number =>
    say(typed === program.name ? text : `${text}\n\nOn this machine, type "${typed}" instead of "basa".`, code);
  const fail = (sentence: string, code: number): number => {
    const words = fitted(sentence, typed);
    stderr.write(`${program.name}: ${printable(words)}\n`);
    if (isJson) stdout.write(`${jsonText({ error: words, exitCode: code }, stdout)}\n`);
    return code;
  };
  const found = findCommand(program, args);
  if (found === undefined) {
    const [first = '', second = ''] = args.filter((arg) => !arg.startsWith('-'));
    const isAsked = own.some((arg) => arg === '--help' || arg === '-h');
    const code = isAsked ? EXIT_CODE.fine : EXIT_CODE.usage;
    if (first === '')
      return own.includes('--version') ? say(await versionText(), EXIT_CODE.fine) : explain(overview(program), code);
    if (second === '' && groupOf(program, first).length > 0) return explain(groupHelp(program, first), code);
    const words = `${first} ${second}`.trim();
    const names = program.commands.map(({ name }) => name);
    return fail(
      `there is no command "${words}"${didYouMean(names, words)}; \`${program.name} --help\` lists all commands`,
      EXIT_CODE.usage,
    );
  }
  const { command, rest } = found;
  const stopping = new AbortController();
  // Every request and process of a command listens for its end.
  setMaxListeners(0, stopping.signal);
  const stop = (): void => stopping.abort(new CommandError('interrupted', EXIT_CODE.interrupted));
  for (const name of STOP_SIGNALS) process.once(name, stop);
  try {
    const { values, positionals } = readFlags(program, command, rest);
    if (values['help']) return explain(helpOf(program, command), EXIT_CODE.fine);
    const terminal = createTerminal(isJson ? stderr : stdout, stderr);
    if (command.opening !== undefined) terminal.line(`${command.opening} ...`);
    const line = (text = ''): void => terminal.line(fitted(text, typed));
    const warn = (text: string): void => terminal.warn(fitted(text, typed));
    const input: Typed = {
      values,
      positionals,
      environment,
      terminal: { ...terminal, line, warn },
      signal: stopping.signal,
    };
    const { json, exitCode = EXIT_CODE.fine } = await command.run(input);
    terminal.clearStatus();
    if (isJson) stdout.write(`${jsonText(json, stdout)}\n`);
    return exitCode;
  } catch (error) {
    const { sentence, code, isFault = false } = sentenceOf(error, `${program.name} ${command.name}`);
    const isStackShown = isDebug || (isFault && command.isService === true);
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    if (isStackShown) stderr.write(`${printable(stack)}\n`);
    return fail(sentence, code);
  } finally {
    for (const name of STOP_SIGNALS) process.off(name, stop);
  }
}

/** Programs read the last line; a person at a terminal reads it indented. */
function jsonText(json: object, { isTTY }: OutStream): string {
  return printableJson(isTTY === true ? JSON.stringify(json, null, 2) : JSON.stringify(json));
}

/** The arguments before `--` are ours; the rest is passed on. */
function ownArgs(args: readonly string[]): readonly string[] {
  return args.slice(0, args.includes('--') ? args.indexOf('--') : undefined);
}

function findCommand(
  { commands }: Program,
  args: readonly string[],
): { command: Command; rest: readonly string[] } | undefined {
  for (const words of [2, 1]) {
    const name = args.slice(0, words).join(' ');
    const command = commands.find((candidate) => candidate.name === name);
    if (command !== undefined) return { command, rest: args.slice(words) };
  }
  return undefined;
}

type Options = NonNullable<ParseArgsConfig['options']>;

function optionsOf({ flags }: Command): Options {
  const options = Object.entries(flags).map(([name, { value, isList = false }]) => [
    name,
    { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple: isList },
  ]);
  return Object.fromEntries(options);
}

function readFlags({ name }: Program, command: Command, args: readonly string[]) {
  const positionals = command.takesMany === true ? Number.POSITIVE_INFINITY : Object.keys(command.takes ?? {}).length;
  const options = { ...optionsOf(command), ...COMMON_FLAGS };
  const own = ownArgs(args);
  const joined = [...joinNegatives(own, options), ...args.slice(own.length)];
  refuseUnknown(joined, options, `${name} ${command.name}`);
  const read = parseArgs({ args: joined, allowPositionals: positionals > 0, options });
  if (read.positionals.length > positionals)
    throw new CommandError(
      `"${read.positionals[positionals]}" is one argument too many: remove it, or see \`${name} ${command.name} --help\``,
    );
  return { values: read.values as Typed['values'], positionals: read.positionals };
}

/** The error for an unknown flag, with the flag that was probably meant. */
function refuseUnknown(args: readonly string[], options: Options, typed: string): void {
  const flags = ownArgs(args).flatMap((arg) => /^--([^=]+)/.exec(arg)?.[1] ?? []);
  const unknown = flags.find((flag) => !Object.hasOwn(options, flag));
  if (unknown === undefined) return;
  const names = Object.keys(options).map((flag) => `--${flag}`);
  throw new CommandError(`there is no flag --${unknown}${didYouMean(names, `--${unknown}`)}; see \`${typed} --help\``);
}

/**
 * Turns `--noise -1` into `--noise=-1`: `parseArgs` would read the number as a flag, and the command could not explain
 * the error.
 */
function joinNegatives(args: readonly string[], options: Options): readonly string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const flag = joined.at(-1) ?? '';
    const takesValue = flag.startsWith('--') && options[flag.slice(2)]?.type === 'string';
    if (takesValue && /^-\.?\d/.test(arg)) joined.splice(-1, 1, `${flag}=${arg}`);
    else joined.push(arg);
  }
  return joined;
}

/** A program of commands: `basa`, and the laboratory's. */
export interface Program {
  /** Its usual name; hints in backticks begin with it. */
  readonly name: string;
  /** The rest of the first line of its `--help`. */
  readonly about: string;
  readonly commands: readonly Command[];
  /** Sentences below the list of commands. */
  readonly closing: readonly string[];
}

/** The columns at which the help texts begin and end. */
const [LEFT, WIDTH] = [23, 118];

const COMMON_USAGE = [
  entry('--json', 'print the result as one JSON object at the end of standard output'),
  entry('--debug', 'print the stack of an error (variable: BASA_DEBUG=1)'),
  entry('--help', 'show this text'),
];

export function overview({ name, about, commands, closing }: Program): string {
  return [`${name}: ${about}`, '', listOf(name, commands), '', ...closing].join('\n');
}

/** Commands of two words that begin with this one; empty if there is no such group. */
export function groupOf({ commands }: Program, word: string): readonly Command[] {
  return commands.filter(({ name }) => name.startsWith(`${word} `));
}

export function groupHelp(program: Program, word: string): string {
  return [
    `${program.name} ${word}: a group of commands`,
    '',
    listOf(program.name, groupOf(program, word)),
    '',
    `\`${program.name} ${word} <command> --help\` lists the flags of a command.`,
  ].join('\n');
}

export function helpOf(program: Program, { name, summary, takes = {}, flags, notes = [] }: Command): string {
  const others = groupOf(program, name);
  const also = others.length === 0 ? [] : ['', 'See also:', listOf(program.name, others)];
  return [
    `${program.name} ${name}: ${summary}`,
    '',
    ...Object.entries(takes).map(([argument, words]) => entry(argument, words)),
    ...Object.entries(flags).map(([flag, told]) => flagEntry(flag, told)),
    ...COMMON_USAGE,
    ...(notes.length === 0 ? [] : ['']),
    ...notes.map((note) => wrapped('', note, '')),
    ...also,
  ].join('\n');
}

function flagEntry(name: string, { value, help, without, variable }: Flag<unknown>): string {
  const typed = value === undefined ? `--${name}` : `--${name} <${value}>`;
  const also = [
    ...(without === undefined ? [] : [`default: ${without}`]),
    ...(variable === undefined ? [] : [`variable: ${variable}${value === undefined ? '=1' : ''}`]),
  ];
  return entry(typed, also.length === 0 ? help : `${help} (${also.join('; ')})`);
}

function entry(left: string, words: string): string {
  return wrapped(left.length > LEFT - 3 ? `${left}  ` : left.padEnd(LEFT - 2), words, ' '.repeat(LEFT - 2));
}

/** Breaks a line that would be too long; the rest is aligned below its text. */
function wrapped(left: string, words: string, indent: string): string {
  const lines = [`  ${left}`];
  for (const word of words.split(' ')) {
    const line = lines.at(-1) ?? '';
    const isFirst = line.trimStart() === '' || line === `  ${left}`;
    if (isFirst || line.length + 1 + word.length <= WIDTH)
      lines.splice(-1, 1, isFirst ? line + word : `${line} ${word}`);
    else lines.push(`  ${indent}${word}`);
  }
  return lines.join('\n');
}

function listOf(program: string, commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return commands.map(({ name, summary }) => `  ${program} ${name.padEnd(width)}  ${summary}`).join('\n');
}

/** ` (did you mean "task ls"?)`, or an empty text if no name is similar. */
export function didYouMean(names: readonly string[], typed: string): string {
  const name = begun(names, typed) ?? nearestOf(names, typed);
  return name === undefined ? '' : ` (did you mean "${name}"?)`;
}

/** The only name that begins like this. */
function begun(names: readonly string[], typed: string): string | undefined {
  const [only, ...others] = typed.length < 3 ? [] : names.filter((name) => name.startsWith(typed));
  return others.length === 0 ? only : undefined;
}

/** Two letters may be wrong, fewer in a short name. */
function nearestOf(names: readonly string[], typed: string): string | undefined {
  const [first] = names
    .map((name) => ({ name, distance: editDistance(typed, name) }))
    .sort((a, b) => a.distance - b.distance);
  return first !== undefined && first.distance <= Math.min(2, typed.length / 2) ? first.name : undefined;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
