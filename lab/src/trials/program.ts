/** Runs a trial or a drill as a program: reads its options, and prints its progress and its counts. With `--json`, the last line is a JSON object. */
import { parseArgs } from 'node:util';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { secondsSince } from '@basa/testkit/programs/seconds.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { isTrialEngine, type TrialEngine, WRONG_ENGINE } from './engines.ts';

export interface TrialInput {
  readonly seed: number;
  readonly engine: TrialEngine;
  onLine(line: string): void;
}

interface TrialProgram<Numbers extends string, Words extends string> {
  /** The words after `npm run lab --`. */
  readonly name: `${'trial' | 'drill'} ${string}`;
  /** Its engines and its own options, for the first line of its help. */
  readonly usage: string;
  /** In sentences, for its help. */
  readonly about: string;
  /** Options that take a whole number, with their defaults. */
  readonly numbers?: Readonly<Record<Numbers, number>>;
  /** Options that take a word, and may be left out. */
  readonly words?: readonly Words[];
}

/** The other properties are its counts. */
interface TrialReport {
  readonly problems: readonly string[];
  /** Further results, only for `--json`. */
  readonly details?: object;
}

export type TrialRun = (input: TrialInput) => Promise<TrialReport>;

/** For the usage of a program that can run with each of them. */
export const ANY_ENGINE = '[--engine slot-keys|cp-abe|one-shot|one-shot-groups]';

export async function runTrial<Numbers extends string = never, Words extends string = never>(
  program: TrialProgram<Numbers, Words>,
  run: (
    input: TrialInput,
    numbers: Readonly<Record<Numbers, number>>,
    words: Readonly<Partial<Record<Words, string>>>,
  ) => Promise<TrialReport>,
): Promise<void> {
  const values = readValues(program);
  const { name, usage, about } = program;
  if (values.help) return console.log(`npm run lab -- ${name} ${usage} [--seed N] [--json]\n\n${about}`);
  const { engine, seed, numbers, words } = chosenIn(program, values);
  const settings = { ...words, seed, engine };
  const lines = Object.entries<number | string>({ ...numbers, ...settings });
  console.log(lines.map(([key, value]) => `${key} ${value}`).join(', '));
  const begun = Date.now();
  const input = { seed, engine, onLine: (line: string) => console.log(line) };
  const { problems, details, ...counts } = await run(input, numbers, words);
  for (const [what, count] of Object.entries(counts)) console.log(`${what.padEnd(20)}${count}`);
  for (const problem of problems) console.log(`WRONG: ${problem}`);
  const result = { ...settings, seconds: secondsSince(begun), ...counts, problems, ...details };
  if (values.json) console.log(JSON.stringify({ [name.split(' ')[1] ?? name]: result }));
  process.exitCode = problems.length === 0 ? 0 : 1;
}

function readValues({ numbers, words = [] }: TrialProgram<string, string>) {
  const own = [
    ...Object.entries(numbers ?? {}).map(([key, value]) => [key, { type: 'string', default: String(value) }] as const),
    ...words.map((key) => [key, { type: 'string' }] as const),
  ];
  const { values } = parseArgs({
    options: {
      ...Object.fromEntries(own),
      engine: { type: 'string', default: 'slot-keys' },
      seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
      ...SWITCHES,
    },
  });
  return values;
}

function chosenIn<Numbers extends string, Words extends string>(
  { numbers, words = [] }: TrialProgram<Numbers, Words>,
  { engine, seed, ...given }: ReturnType<typeof readValues>,
) {
  if (!isTrialEngine(engine)) throw new MissingError(WRONG_ENGINE);
  const own: Readonly<Record<string, unknown>> = given;
  const counted = Object.keys(numbers ?? {}).map((key) => [key, wholeNumber(key, own[key])]);
  const worded = words.flatMap((key) => (own[key] === undefined ? [] : [[key, own[key]]]));
  return {
    engine,
    seed: wholeNumber('seed', seed),
    numbers: Object.fromEntries(counted) as Record<Numbers, number>,
    words: Object.fromEntries(worded) as Partial<Record<Words, string>>,
  };
}

function wholeNumber(key: string, given: unknown): number {
  const value = Number(given);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new MissingError(`--${key} takes a whole number, for example --${key} 20`);
}

/** Prints how often each moment was met. */
export function tellMoments(title: string, moments: Readonly<Record<string, number>>): void {
  console.log(`\n${title}:`);
  for (const [moment, count] of Object.entries(moments)) console.log(`${String(count).padStart(4)}  ${moment}`);
}
