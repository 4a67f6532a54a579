/**
 * A program of a group (trial, drill, proof): its options are read, and its progress and counts are printed. With `--json`, the last line is
 * a JSON object.
 */
import { parseArgs } from 'node:util';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import type { Named } from '@basa/testkit/programs/named.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';

interface LabProgram<Numbers extends string, Words extends string> {
  /** Its line in the list of the group. */
  readonly about: string;
  /** In sentences, with every option. */
  readonly help: string;
  /** Options that take a whole number, with their defaults. */
  readonly numbers?: Readonly<Record<Numbers, number>>;
  /** Options that take a word, and may be left out. */
  readonly words?: readonly Words[];
  run(
    options: Readonly<Record<Numbers, number>> & Readonly<Partial<Record<Words, string>>>,
    tell: (line: string) => void,
  ): Promise<LabReport>;
}

/** The other properties are its counts. */
interface LabReport {
  readonly problems: readonly string[];
  /** Further results, only for `--json`. */
  readonly details?: object;
}

/** A seed that is another one every time. */
export const newSeed = (): number => Date.now() % 2 ** 31;

/** `name`: the words after `npm run lab --`. */
export function program<Numbers extends string = never, Words extends string = never>(
  name: string,
  { about, help, numbers, words = [], run }: LabProgram<Numbers, Words>,
): Named {
  const defaults = Object.entries<number>(numbers ?? {});
  const usage = [...defaults.map(([key]) => `[--${key} N]`), ...words.map((key) => `[--${key} ${key.toUpperCase()}]`)];
  const start = async (): Promise<void> => {
    const own = [...defaults.map(([key]) => key), ...words].map((key) => [key, { type: 'string' }] as const);
    const { values } = parseArgs({ options: { ...Object.fromEntries(own), ...SWITCHES } });
    if (values.help) return console.log(`npm run lab -- ${name} ${usage.join(' ')} [--json]\n\n${help}`);
    const given = values as Readonly<Record<string, unknown>>;
    const options = {
      ...Object.fromEntries(defaults.map(([key, value]) => [key, wholeNumber(key, given[key] ?? value)])),
      ...Object.fromEntries(words.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]]))),
    } as Parameters<typeof run>[0];
    const settings = Object.entries(options).map((pair) => pair.join(' '));
    if (settings.length > 0) console.log(settings.join(', '));
    const begunMs = Date.now();
    const { problems, details, ...counts } = await run(options, (line) => console.log(line));
    for (const [what, count] of Object.entries<unknown>(counts)) console.log(`${what.padEnd(20)}${shown(count)}`);
    for (const problem of problems) console.log(`WRONG: ${problem}`);
    const seconds = Math.round((Date.now() - begunMs) / 1000);
    const result = { ...options, seconds, ...counts, problems, ...details };
    if (values.json) console.log(JSON.stringify({ [name.split(' ').at(-1) ?? name]: result }));
    process.exitCode = problems.length === 0 ? 0 : 1;
  };
  return { about, program: start };
}

function wholeNumber(key: string, given: unknown): number {
  const value = Number(given);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new MissingError(`--${key} takes a whole number, for example --${key} 20`);
}

function shown(count: unknown): string {
  if (typeof count === 'number') return String(Number(count.toFixed(2)));
  return typeof count === 'string' ? count : JSON.stringify(count);
}

/** Prints how often each moment was met. */
export function tellMoments(title: string, moments: Readonly<Record<string, number>>): void {
  console.log(`\n${title}:`);
  for (const [moment, count] of Object.entries(moments)) console.log(`${String(count).padStart(4)}  ${moment}`);
}
