/**
 * `npm run lab -- sizes`: counts lines of code and words of pages by folder, and compares them with the budgets. It only reports, and never
 * fails.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, command } from '@basa/cli/internal/shell/command.ts';
import { table } from '@basa/cli/internal/shell/terminal.ts';
import { ROOT } from '@basa/testkit/root.ts';

const CODE = /\.(?:ts|mjs|js|py|css)$/;
/** Generated files: the wasm kernels as modules, and the results of experiments. */
const WRITTEN = /src\/wasm\/.*-bytes\.ts$|^docs\/results\/experiments\//;

interface Room {
  readonly room: string;
  readonly lines: number;
}

interface Budget {
  readonly what: string;
  readonly size: number;
  readonly budget: number;
}

/** The parts of the code that have a budget, by the path of a file. */
const PARTS: readonly { readonly what: string; readonly budget: number; readonly holds: RegExp }[] = [
  { what: 'packages src', budget: 67_000, holds: /^packages\/[^/]+\/(?:src|assembly)\// },
  { what: 'tests', budget: 46_000, holds: /^(?:packages\/[^/]+\/|lab\/|scripts\/)?test\// },
  { what: 'lab and conformance', budget: 20_000, holds: /^(?:lab|conformance)\/(?!test\/)/ },
  { what: 'Python', budget: 7_000, holds: /^clients\/python\// },
  { what: 'scripts, deploy and examples', budget: 3_000, holds: /^(?:scripts|deploy|examples)\/(?!test\/)/ },
];

export const sizes: Command = command({
  name: 'sizes',
  summary: 'count lines of code and words of pages by folder, and compare them with the budgets',
  flags: {},
  notes: [
    'Counts the lines of every code file that git tracks, and the words of every page. A word has a letter or a digit: marks of tables, lists and code blocks are not counted.',
  ],
  async run({ terminal }) {
    const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trimEnd().split('\n');
    const code = files.filter((file) => CODE.test(file) && !WRITTEN.test(file));
    const lines = new Map(code.map((file) => [file, linesOf(file)]));
    const rooms = byRoom(lines);
    const budgets = budgetsOf(files, lines);
    terminal.line(table([['room', 'lines'], ...rooms.map(({ room, lines: n }) => [room, String(n)])]));
    terminal.line();
    terminal.line(table([['', 'is', 'budget', ''], ...budgets.map(row)]));
    return { json: { rooms, budgets } };
  },
});

function row({ what, size, budget }: Budget): string[] {
  return [what, String(size), String(budget), size > budget ? `${size - budget} over` : 'holds'];
}

function byRoom(lines: ReadonlyMap<string, number>): readonly Room[] {
  const rooms = new Map<string, number>();
  for (const [file, count] of lines) {
    const room = roomOf(file);
    rooms.set(room, (rooms.get(room) ?? 0) + count);
  }
  return [...rooms].map(([room, count]) => ({ room, lines: count })).sort((a, b) => a.room.localeCompare(b.room));
}

/** A package's source and its tests, a folder of the laboratory, or the first folder. */
function roomOf(file: string): string {
  const [, room] = /^(packages\/[^/]+\/[^/]+|lab\/src\/[^/]+|test\/[^/]+|[^/]+)\//.exec(file) ?? [];
  return room ?? '(root)';
}

function budgetsOf(files: readonly string[], lines: ReadonlyMap<string, number>): readonly Budget[] {
  const sum = (holds: (file: string) => boolean): number =>
    [...lines].reduce((total, [file, count]) => total + (holds(file) ? count : 0), 0);
  const pages = files.filter((file) => file.endsWith('.md') && !WRITTEN.test(file));
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
  return [
    ...PARTS.map(({ what, budget, holds }) => ({ what, budget, size: sum((file) => holds.test(file)) })),
    { what: 'all code', budget: 143_000, size: sum(() => true) },
    { what: 'words of pages', budget: 33_500, size: pages.reduce((total, page) => total + wordsOf(page), 0) },
    { what: 'words of README', budget: 900, size: wordsOf('README.md') },
    { what: 'npm scripts', budget: 14, size: Object.keys(scripts).length },
  ];
}

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const linesOf = (file: string): number => read(file).split('\n').length - 1;
/** A word has a letter or a digit. Marks of a table, a list or a code block are not words. */
const wordsOf = (file: string): number => read(file).match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0;
