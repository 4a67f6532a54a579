/** `npm run prove -- oracle [--schedules N] [--seed S] [--workers N] [--json]`: the long version of the leak oracle. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { WorkerPool } from '@basa/runtime/node';
import type { OracleEngine } from '../oracle/engines.ts';
import type { Tally } from '../oracle/exhaustive.ts';
import type { ScheduleTally } from '../oracle/many.ts';
import type { OracleAnswer, OracleTask } from './oracle-worker.ts';

const HELP = `npm run prove -- oracle [--schedules N] [--seed S] [--workers N] [--no-exhaustive] [--json]

Runs the protocol core over every situation of K = 3, 4 and 5 and over N generated schedules (10^7 by default), and
solves which combinations of inputs server and colluders can compute. Anything but the honest sums is a leak.

  --schedules N     how many schedules (10000000)
  --seed S          the first schedule (0); they are numbered, so a run goes on with --seed <the number it printed>
  --workers N       worker threads (one per core); the result does not depend on how many
  --no-exhaustive   only the generated schedules
  --json            the last line is one JSON object`;

const options = readOptions();
if (options.help) {
  console.log(HELP);
  process.exit();
}

// Loaded after the help, which would take seconds otherwise.
const { createWorkerPool, workerModule } = await import('@basa/runtime/node');
const { ORACLE_ENGINES } = await import('../oracle/engines.ts');
const { addSituations, NO_SITUATIONS } = await import('../oracle/exhaustive.ts');
const { addTallies, NO_SCHEDULES } = await import('../oracle/many.ts');

const SCHEDULES_PER_TASK = 1024;
const SHARES = 256;
const REPORT_MS = 5000;

/** K = 5 takes hours with either engine; schedules have both. */
const EXHAUSTIVE: readonly { readonly bufferSize: number; readonly engine: OracleEngine }[] = [
  ...ORACLE_ENGINES.flatMap((engine) => [3, 4].map((bufferSize) => ({ bufferSize, engine }))),
  { bufferSize: 5, engine: 'attributes' },
];

type Pool = WorkerPool<OracleTask, OracleAnswer>;

function readOptions() {
  const { values } = parseArgs({
    options: {
      schedules: { type: 'string', default: '10000000' },
      seed: { type: 'string', default: '0' },
      workers: { type: 'string', default: String(availableParallelism()) },
      'no-exhaustive': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const [schedules, seed, workers] = [Number(values.schedules), Number(values.seed), Number(values.workers)];
  const isGood = [schedules, seed, workers].every((value) => Number.isSafeInteger(value) && value >= 0) && workers > 0;
  return { ...values, schedules, seed, workers, isGood };
}

/** Keeps every worker busy with the numbered tasks `0 .. count - 1`; hands on each answer as it comes, with its number. */
async function forEachTask(
  pool: Pool,
  count: number,
  taskOf: (number: number) => OracleTask,
  onAnswer: (number: number, answer: OracleAnswer) => void,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const number = next++;
      onAnswer(number, await pool.run(taskOf(number)));
    }
  };
  await Promise.all(Array.from({ length: pool.size }, lane));
}

async function runExhaustive(pool: Pool): Promise<Record<string, Tally>> {
  const results: Record<string, Tally> = {};
  for (const { bufferSize, engine } of EXHAUSTIVE) {
    let tally = NO_SITUATIONS;
    await forEachTask(
      pool,
      SHARES,
      (index) => ({ kind: 'situations', bufferSize, engine, share: { index, of: SHARES } }),
      (_, answer) => {
        tally = addSituations(tally, answer as Tally);
        process.stderr.write(`  K = ${bufferSize}, ${engine}: ${tally.situations} situations\r`);
      },
    );
    console.log(
      `K = ${bufferSize}, ${engine}: ${tally.situations} situations, ${tally.sums} sums of which ${tally.sumsFound} found, ${tally.leaks.length} leaks`,
    );
    for (const { situation, leaked } of tally.leaks.slice(0, 5))
      console.log(`  LEAK ${leaked.join(', ')}: ${situation}`);
    results[`K${bufferSize} ${engine}`] = tally;
  }
  return results;
}

async function runGenerated(pool: Pool, first: number, count: number): Promise<ScheduleTally> {
  const started = Date.now();
  let [total, reported] = [NO_SCHEDULES, started];
  // Answers come in any order; a later run may go on where no earlier one is missing.
  const finished = new Set<number>();
  let gapless = 0;
  await forEachTask(
    pool,
    Math.ceil(count / SCHEDULES_PER_TASK),
    (number) => {
      const done = number * SCHEDULES_PER_TASK;
      return { kind: 'schedules', seed: first + done, count: Math.min(SCHEDULES_PER_TASK, count - done) };
    },
    (number, answer) => {
      const tally = answer as ScheduleTally;
      for (const { seed, leaked } of tally.leaks) console.log(`  LEAK ${leaked.join(', ')}: schedule ${seed}`);
      total = addTallies(total, tally);
      finished.add(number);
      while (finished.delete(gapless)) gapless++;
      if (Date.now() - reported < REPORT_MS) return;
      reported = Date.now();
      const perSecond = total.schedules / ((reported - started) / 1000);
      const left = Math.ceil((count - total.schedules) / perSecond / 60);
      console.log(
        `  ${total.schedules} of ${count}, ${Math.round(perSecond)} a second, about ${left} min left; go on with --seed ${Math.min(first + count, first + gapless * SCHEDULES_PER_TASK)}`,
      );
    },
  );
  return total;
}

const percent = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;

if (!options.isGood) {
  console.error('--schedules, --seed and --workers take whole numbers, for example --schedules 1000000 --workers 8');
  process.exitCode = 2;
} else {
  const pool: Pool = createWorkerPool({
    ...workerModule(import.meta.url, './oracle-worker'),
    size: options.workers,
  });
  const exhaustive = options['no-exhaustive'] ? {} : await runExhaustive(pool);
  const tally = await runGenerated(pool, options.seed, options.schedules);
  await pool.close();
  const leaks = tally.leaks.length + Object.values(exhaustive).reduce((sum, one) => sum + one.leaks.length, 0);
  console.log(
    [
      `${tally.schedules} schedules from ${options.seed}: ${percent(tally.filled, tally.schedules)} filled a buffer, ${percent(tally.closed, tally.schedules)} closed one,`,
      `${percent(tally.withColluders, tally.schedules)} with colluders, ${percent(tally.withLies, tally.schedules)} with a lying server (${tally.lies} lies).`,
      `${tally.sumsFound} of ${tally.sums} sums found. Leaks: ${leaks}.`,
    ].join('\n'),
  );
  if (options.json)
    console.log(JSON.stringify({ oracle: { seed: options.seed, leaks, exhaustive, generated: tally } }));
  process.exitCode = leaks === 0 ? 0 : 1;
}
