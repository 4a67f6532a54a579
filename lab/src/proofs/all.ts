/** `npm run lab -- prove all [--quick] [--json]`: the long checks of the protocol one after the other, with one summary. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { FROM_SOURCE } from '@basa/testkit/root.ts';

const HELP = `npm run lab -- prove all [--quick] [--json]

Runs all long checks of the protocol: attacks, mutants, shots, uniformity and decoders. Together they take hours.
Each part is also a command: npm run lab -- attacks, npm run lab -- prove mutants, and so on. docs/evidence.md explains the results.

  --quick   use smaller numbers, so that all parts take some minutes
  --json    print the result as one JSON object in the last line`;

interface Part {
  readonly name: string;
  readonly long?: readonly string[];
  /** Missing if the part is left out with --quick. */
  readonly quick?: readonly string[];
}

const PARTS: readonly Part[] = [
  { name: 'attacks', quick: ['--runs', '0'] },
  // The attacks run every mutant once; here they also meet generated schedules.
  { name: 'mutants', long: ['--schedules', '200'] },
  { name: 'shots', quick: ['--schedules', '20', '--faults', '4', '--steps', '1', '--states', '500'] },
  { name: 'uniformity', quick: ['--runs', '3'] },
  { name: 'decoders', quick: ['--runs', '2000'] },
];
const LAB = fileURLToPath(new URL('../main.ts', import.meta.url));

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    ...SWITCHES,
  },
});

interface PartResult {
  readonly name: string;
  readonly passed: boolean;
  readonly seconds: number;
  readonly result: unknown;
}

/** Runs one part, shows its output, and keeps its last line. */
async function runPart({ name, long = [], quick = [] }: Part): Promise<PartResult> {
  console.log(`\n== ${name}`);
  const started = Date.now();
  const words = name === 'attacks' ? [name] : ['prove', name];
  const options = [...(values.quick ? quick : long), '--json'];
  const run = promisify(execFile)(process.execPath, [...FROM_SOURCE, LAB, ...words, ...options], {
    maxBuffer: 2 ** 28,
  });
  run.child.stderr?.pipe(process.stderr);
  const { stdout, code } = await run.then(
    (ended) => ({ ...ended, code: 0 }),
    (error: { readonly stdout: string; readonly code: number | null }) => error,
  );
  const lines = stdout.trimEnd().split('\n');
  console.log(lines.slice(0, -1).join('\n'));
  return {
    name,
    passed: code === 0,
    seconds: Math.round((Date.now() - started) / 1000),
    result: parseLine(lines.at(-1)),
  };
}

function parseLine(line: string | undefined): unknown {
  try {
    return JSON.parse(line ?? 'null');
  } catch {
    return line;
  }
}

if (values.help) console.log(HELP);
else {
  const results: PartResult[] = [];
  for (const part of PARTS.filter(({ quick }) => quick !== undefined || !values.quick))
    results.push(await runPart(part));
  console.log('\n== summary');
  for (const { name, passed, seconds } of results)
    console.log(`${name.padEnd(10)} ${passed ? 'holds ' : 'FAILS '} ${seconds} s`);
  if (values.json) console.log(JSON.stringify({ prove: results }));
  process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
}
