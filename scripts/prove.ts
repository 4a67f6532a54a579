/** `npm run prove -- [--quick] [--json]`: every long check of the protocol one after the other, with one summary. */
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';

const HELP = `npm run prove -- [--quick] [--json]

Attacks, mutants, explorer, fault simulation and leak oracle, each in its long version (hours); docs/evidence.md says what
each of them shows. Every part is a command of its own: npm run attacks, prove:mutants, prove:explorer, prove:faults,
prove:oracle.

  --quick   smaller numbers: some minutes
  --json    end standard output with one line that is one JSON object`;

interface Part {
  readonly name: string;
  /** What Node runs, with the options of every version of it. */
  readonly program: readonly string[];
  readonly quick: readonly string[];
}

const PARTS: readonly Part[] = [
  { name: 'attacks', program: ['packages/cli/src/main.ts', 'attacks'], quick: [] },
  { name: 'mutants', program: ['scripts/prove-mutants.ts'], quick: [] },
  { name: 'explorer', program: ['scripts/prove-explorer.ts'], quick: ['--states', '20000'] },
  { name: 'faults', program: ['scripts/prove-faults.ts'], quick: ['--buffers', '300'] },
  { name: 'oracle', program: ['scripts/prove-oracle.ts'], quick: ['--schedules', '20000', '--no-exhaustive'] },
];

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

interface PartResult {
  readonly name: string;
  readonly passed: boolean;
  readonly seconds: number;
  readonly result: unknown;
}

/** Runs one part, shows what it prints, and keeps its last line. */
async function runPart({ name, program, quick }: Part): Promise<PartResult> {
  console.log(`\n== ${name}`);
  const started = Date.now();
  const options = [...(values.quick ? quick : []), '--json'];
  const child = spawn(process.execPath, ['--import', 'tsx', '--conditions=@basa/source', ...program, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  const lines = printed.trimEnd().split('\n');
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
  for (const part of PARTS) results.push(await runPart(part));
  console.log('\n== summary');
  for (const { name, passed, seconds } of results)
    console.log(`${name.padEnd(10)} ${passed ? 'holds ' : 'FAILS '} ${seconds} s`);
  if (values.json) console.log(JSON.stringify({ prove: results }));
  process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
}
