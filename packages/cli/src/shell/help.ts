/** The texts of `--help`: for the whole program, for a group such as `task`, and for one command. */
import type { Command } from './command.ts';
import type { Flag } from './flag.ts';

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
