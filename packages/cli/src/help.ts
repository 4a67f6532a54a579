/** The words of `--help`: of everything, of a group such as `task`, and of one command. */
import type { Command } from './command.ts';
import { COMMANDS } from './commands/all.ts';

const COMMON_USAGE = [
  '  --json               end standard output with one JSON object: on one line, or indented on a terminal',
  '  --debug              show where in the program an error comes from (BASA_DEBUG=1)',
  '  --help               this text',
];

export function overview(): string {
  return [
    'basa: secure aggregation for asynchronous federated learning',
    '',
    listOf(COMMANDS),
    '',
    'Every command takes --help, --debug and --json. `basa <group> --help` lists a group, for example `basa task --help`.',
    '`basa --version` prints the version. `basa completion --help` says how Tab completes commands and flags.',
  ].join('\n');
}

/** Commands of two words that begin with this one; none where there is no such group. */
export function groupOf(word: string): readonly Command[] {
  return COMMANDS.filter(({ name }) => name.startsWith(`${word} `));
}

export function groupHelp(word: string): string {
  return [
    `basa ${word}: choose one of`,
    '',
    listOf(groupOf(word)),
    '',
    `\`basa ${word} <command> --help\` has more.`,
  ].join('\n');
}

export function helpOf({ name, summary, usage }: Command): string {
  const others = groupOf(name);
  const also = others.length === 0 ? [] : ['', 'See also:', listOf(others)];
  return [`basa ${name}: ${summary}`, '', usage, ...COMMON_USAGE, ...also].join('\n');
}

function listOf(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return commands.map(({ name, summary }) => `  basa ${name.padEnd(width)}  ${summary}`).join('\n');
}

/** The command that a typo probably meant. */
export function nearest(words: string): string {
  const [first] = COMMANDS.map(({ name }) => ({ name, distance: editDistance(words, name) })).sort(
    (a, b) => a.distance - b.distance,
  );
  return first !== undefined && first.distance <= 2 ? ` (did you mean "${first.name}"?)` : '';
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
