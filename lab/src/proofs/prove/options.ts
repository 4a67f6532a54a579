/** The options of a proof: positive integers, its help, and the switches that every program takes. */
import { parseArgs } from 'node:util';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';

interface Wanted<Name extends string, Text extends string> {
  readonly help: string;
  /** The default of each option. */
  readonly numbers: Readonly<Record<Name, number>>;
  readonly texts?: Readonly<Record<Text, string>>;
  /** An example for the message about a value that is not a number. */
  readonly example: string;
}

/** Ends the process after the help, and with status 2 if a value is not a number. */
export function readOptions<Name extends string, Text extends string = never>(wanted: Wanted<Name, Text>) {
  const defaults = Object.entries<string | number>({ ...wanted.numbers, ...wanted.texts });
  const options = Object.fromEntries(
    defaults.map(([name, value]) => [name, { type: 'string', default: String(value) }] as const),
  );
  const { json, help, ...rest } = parseArgs({ options: { ...options, ...SWITCHES } }).values;
  const given: Readonly<Record<string, unknown>> = rest;
  if (help) {
    console.log(wanted.help);
    process.exit(0);
  }
  const names = Object.keys(wanted.numbers);
  const numbers = Object.fromEntries(names.map((name) => [name, Number(given[name])]));
  if (!Object.values(numbers).every((value) => Number.isSafeInteger(value) && value > 0)) {
    const wrong = names.map((name) => `--${name}`).join(', ');
    console.error(`These options take positive whole numbers: ${wrong}. For example: ${wanted.example}`);
    process.exit(2);
  }
  return { ...given, ...numbers, json } as Record<Name, number> & Record<Text, string> & { readonly json: boolean };
}
