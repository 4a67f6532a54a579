/** Runs a drill as a program: reads its options, and prints its progress and its counts. With `--json`, the last line is a JSON object. */
import { parseArgs } from 'node:util';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { secondsSince } from '@basa/testkit/programs/seconds.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { isTrialEngine, type TrialEngine, WRONG_ENGINE } from '../trials/engines.ts';

export interface DrillInput {
  readonly seed: number;
  readonly engine: TrialEngine;
  onLine(line: string): void;
}

interface DrillReport {
  readonly problems: readonly string[];
}

/** `about` describes the drill in sentences, for its help. */
export async function runDrill(
  name: string,
  about: string,
  load: () => Promise<(input: DrillInput) => Promise<DrillReport>>,
): Promise<void> {
  const { values } = parseArgs({
    options: {
      engine: { type: 'string', default: 'slot-keys' },
      seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
      ...SWITCHES,
    },
  });
  if (values.help)
    return console.log(
      `npm run lab -- drill ${name} [--engine slot-keys|cp-abe|one-shot|one-shot-groups] [--seed N] [--json]\n\n${about}`,
    );
  const { engine } = values;
  const seed = Number(values.seed);
  if (!isTrialEngine(engine)) throw new MissingError(WRONG_ENGINE);
  if (!Number.isSafeInteger(seed)) throw new MissingError('--seed takes a whole number, for example --seed 1');
  const begun = Date.now();
  const drill = await load();
  const { problems, ...counts } = await drill({ seed, engine, onLine: (line) => console.log(line) });
  for (const [what, count] of Object.entries(counts)) console.log(`${what.padEnd(20)}${count}`);
  for (const problem of problems) console.log(`WRONG: ${problem}`);
  if (values.json)
    console.log(JSON.stringify({ [name]: { seed, engine, seconds: secondsSince(begun), ...counts, problems } }));
  process.exitCode = problems.length === 0 ? 0 : 1;
}
