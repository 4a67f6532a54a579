/**
 * `npm run lab -- sizes`: counts lines of code and words of pages by room. With `--check` it fails if a room is larger than the number
 * committed in lab/sizes.json, and with `--write` it lowers those numbers.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, CommandError, command, EXIT_CODE, yes } from '@basa/cli/internal/shell/command.ts';

import { table } from '@basa/cli/internal/shell/terminal.ts';
import { ROOT } from '@basa/testkit/root.ts';

/** The committed sizes: what each room may have at most. */
const COMMITTED = 'lab/sizes.json';

const CODE = /\.(?:ts|mjs|js|py|css)$/;
/** Generated files: the wasm kernels as modules, and the results of experiments. */
const WRITTEN = /src\/wasm\/.*-bytes\.ts$|^docs\/results\/experiments\//;

/** Parts of the README that `basa new` prints into a project; they are no pages of the repository. */
const TEMPLATE = /^packages\/cli\/templates\//;

/** The parts of a page that `npm run write` writes from the code. */
const WRITTEN_IN_PAGES = /<!-- written by .*?<!-- end of what is written -->/gs;

/** Rooms by the paths of their files; a package is a room of its own. */
const ROOMS: Readonly<Record<string, RegExp>> = {
  tests: /^(?:packages\/[^/]+\/|lab\/|scripts\/)?test\//,
  'lab and conformance': /^(?:lab|conformance)\//,
  python: /^clients\/python\//,
  'scripts, deploy and examples': /^(?:scripts|deploy|examples)\//,
};

/** Lines or words, by the name of the room. */
export type Sizes = Readonly<Record<string, number>>;

export const sizes: Command = command({
  name: 'sizes',
  summary: 'count lines of code and words of pages by room, and compare them with the committed numbers',
  flags: {
    check: yes(`fail if a room is larger than its number in ${COMMITTED}`),
    write: yes(`lower the numbers in ${COMMITTED} to the sizes of today; it raises none`),
  },
  notes: [
    'Counts the lines of every code file that git tracks, and the words of every page except the templates of `basa new`. A word has a letter or a digit: marks of tables, lists and code blocks are not counted, and neither are the parts of a page that are written from the code. A change may lower a number freely. One that raises a number edits the file and says why in its commit.',
  ],
  async run({ flags, terminal }) {
    const now = sizesIn(ROOT);
    if (flags.write) lower(ROOT, now);
    const committed = committedIn(ROOT);
    const rows = Object.entries(now).map(([room, size]) => [room, String(size), String(committed[room] ?? 'none')]);
    terminal.line(table([['room', 'is', 'at most'], ...rows]));
    const problems = outgrown(now, committed);
    for (const problem of problems) terminal.line(problem);
    const isGood = !flags.check || problems.length === 0;
    return { json: { sizes: now, committed, problems }, exitCode: isGood ? EXIT_CODE.fine : EXIT_CODE.failed };
  },
});

/** Counts what git tracks in this repository, with the rooms in alphabetical order. */
export function sizesIn(root: string): Sizes {
  const read = (file: string): string => readFileSync(join(root, file), 'utf8');
  const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trimEnd().split('\n');
  const found = new Map<string, number>();
  const add = (room: string, size: number): void => void found.set(room, (found.get(room) ?? 0) + size);
  for (const file of files.filter((one) => !WRITTEN.test(one))) {
    if (CODE.test(file)) add(roomOf(file), linesOf(read(file)));
    if (file.endsWith('.md') && !TEMPLATE.test(file)) add('words of pages', wordsOf(read(file)));
    if (file === 'README.md') add('words of README', wordsOf(read(file)));
  }
  return sorted([...found]);
}

/** Says which rooms are larger than committed, or not committed at all. */
export function outgrown(now: Sizes, committed: Sizes): readonly string[] {
  return Object.entries(now).flatMap(([room, size]) => {
    const most = committed[room];
    if (most === undefined) return [`${room} has no number in ${COMMITTED}; add one`];
    if (size <= most) return [];
    return [
      `${room} has grown from ${most} to ${size}; make it smaller, or raise its number in ${COMMITTED} and say why in the commit`,
    ];
  });
}

/** The committed numbers, each lowered to what is there; rooms that are gone are dropped. */
export function lowered(now: Sizes, committed: Sizes): Sizes {
  return sorted(Object.entries(now).map(([room, size]) => [room, Math.min(size, committed[room] ?? size)]));
}

function lower(root: string, now: Sizes): void {
  writeFileSync(join(root, COMMITTED), `${JSON.stringify(lowered(now, committedIn(root)), undefined, 2)}\n`);
}

function committedIn(root: string): Sizes {
  try {
    return JSON.parse(readFileSync(join(root, COMMITTED), 'utf8')) as Sizes;
  } catch (error) {
    throw new CommandError(`${COMMITTED} cannot be read: ${(error as Error).message}. Restore it from git`);
  }
}

function roomOf(file: string): string {
  const own = Object.entries(ROOMS).find(([, holds]) => holds.test(file));
  return own?.[0] ?? /^packages\/[^/]+/.exec(file)?.[0] ?? 'root';
}

function sorted(entries: readonly (readonly [string, number])[]): Sizes {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const linesOf = (text: string): number => text.split('\n').length - 1;
/** A word has a letter or a digit. Marks of a table, a list or a code block are not words. */
const wordsOf = (text: string): number =>
  text.replaceAll(WRITTEN_IN_PAGES, '').match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0;
