/** Runs a trial or a drill as a program: reads its options, and prints its progress and its counts. With `--json`, the last line is a JSON object. */
import { parseArgs } from 'node:util';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { secondsSince } from '@basa/testkit/programs/seconds.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';

export interface TrialInput {
  readonly seed: number;
  onLine(line: string): void;
}

interface TrialProgram<Numbers extends string, Words extends string> {
  /** The words after `npm run lab --`. */
  readonly name: `${'trial' | 'drill'} ${string}`;
  /** Its own options, for the first line of its help. */
  readonly usage?: string;
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
  const words = [name, ...(usage === undefined ? [] : [usage]), '[--seed N] [--json]'].join(' ');
  if (values.help) return console.log(`npm run lab -- ${words}\n\n${about}`);
  const { seed, numbers, words: given } = chosenIn(program, values);
  const settings = { ...given, seed };
  const lines = Object.entries<number | string>({ ...numbers, ...settings });
  console.log(lines.map(([key, value]) => `${key} ${value}`).join(', '));
  const begun = Date.now();
  const input = { seed, onLine: (line: string) => console.log(line) };
  const { problems, details, ...counts } = await run(input, numbers, given);
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
      seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
      ...SWITCHES,
    },
  });
  return values;
}

function chosenIn<Numbers extends string, Words extends string>(
  { numbers, words = [] }: TrialProgram<Numbers, Words>,
  { seed, ...given }: ReturnType<typeof readValues>,
) {
  const own: Readonly<Record<string, unknown>> = given;
  const counted = Object.keys(numbers ?? {}).map((key) => [key, wholeNumber(key, own[key])]);
  const worded = words.flatMap((key) => (own[key] === undefined ? [] : [[key, own[key]]]));
  return {
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
