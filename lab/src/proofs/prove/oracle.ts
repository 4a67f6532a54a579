/** `npm run lab -- prove oracle [--schedules N] [--seed S] [--workers N] [--json]`: the long version of the leak oracle. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { createWorkerPool, type WorkerPool, workerModule } from '@basa/runtime/node';
import { secondsSince } from '@basa/testkit/programs/seconds.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { addSituations, NO_SITUATIONS, type Tally } from '../oracle/exhaustive.ts';
import { addTallies, NO_SCHEDULES, type ScheduleTally } from '../oracle/many.ts';
import { ORACLE_ENGINES, type OracleEngine } from '../world/symbolic-federation.ts';
import { forEachTask, Gapless } from './numbered-tasks.ts';
import type { OracleAnswer, OracleTask } from './oracle-worker.ts';

const HELP = `npm run lab -- prove oracle [--schedules N] [--seed S] [--sizes K,K | --no-exhaustive] [--workers N] [--json]

Runs the protocol core in every situation with K = 3, 4 and 5, and in N generated schedules. In each it computes all combinations of
inputs that the server and colluders can learn. Everything except the honest sums is a leak.

  --schedules N     number of generated schedules (default: 10000000); 0 runs only the situations
  --seed S          number of the first schedule (default: 0). To continue a run, give the number that it printed
  --workers N       number of worker threads (default: one per core); it does not change the result
  --sizes K,K       run every situation of these K (default: 3,4,5)
  --share S         continue the situations from this share of 256, as printed; for one K at a time
  --no-exhaustive   run only the generated schedules
  --json            print the result as one JSON object in the last line`;

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
      sizes: { type: 'string', default: '3,4,5' },
      share: { type: 'string', default: '0' },
      workers: { type: 'string', default: String(availableParallelism()) },
      'no-exhaustive': { type: 'boolean', default: false },
      ...SWITCHES,
    },
  });
  const [schedules, seed, workers] = [Number(values.schedules), Number(values.seed), Number(values.workers)];
  const sizes = values.sizes.split(',').map(Number);
  const share = Number(values.share);
  const isGood =
    [schedules, seed, workers, share].every((value) => Number.isSafeInteger(value) && value >= 0) &&
    workers > 0 &&
    share < SHARES &&
    (share === 0 || sizes.length === 1) &&
    sizes.every((size) => EXHAUSTIVE.some(({ bufferSize }) => bufferSize === size));
  return { ...values, schedules, seed, sizes, share, workers, isGood };
}

async function runExhaustive(
  pool: Pool,
  sizes: readonly number[],
  first: number,
): Promise<Record<string, Tally & { readonly firstShare: number }>> {
  const results: Record<string, Tally & { readonly firstShare: number }> = {};
  for (const { bufferSize, engine } of EXHAUSTIVE.filter((one) => sizes.includes(one.bufferSize))) {
    let [tally, reported] = [NO_SITUATIONS, Date.now()];
    const done = new Gapless(first);
    await forEachTask(
      pool,
      { first, count: SHARES },
      (index): OracleTask => ({ kind: 'situations', bufferSize, engine, share: { index, of: SHARES } }),
      (number, answer) => {
        tally = addSituations(tally, answer as Tally);
        done.add(number);
        if (Date.now() - reported < REPORT_MS) return;
        reported = Date.now();
        console.log(
          `  K = ${bufferSize}, ${engine}: ${tally.situations} situations; go on with --sizes ${bufferSize} --share ${done.next}`,
        );
      },
    );
    console.log(
      `K = ${bufferSize}, ${engine}: ${tally.situations} situations, ${tally.sums} sums of which ${tally.sumsFound} found, ${tally.leaks.length} leaks`,
    );
    for (const { situation, leaked } of tally.leaks.slice(0, 5))
      console.log(`  LEAK ${leaked.join(', ')}: ${situation}`);
    results[`K${bufferSize} ${engine}`] = { firstShare: first, ...tally };
  }
  return results;
}

async function runGenerated(pool: Pool, first: number, count: number): Promise<ScheduleTally> {
  const started = Date.now();
  let [total, reported] = [NO_SCHEDULES, started];
  const done = new Gapless();
  await forEachTask(
    pool,
    { count: Math.ceil(count / SCHEDULES_PER_TASK) },
    (number): OracleTask => {
      const before = number * SCHEDULES_PER_TASK;
      return { kind: 'schedules', seed: first + before, count: Math.min(SCHEDULES_PER_TASK, count - before) };
    },
    (number, answer) => {
      const tally = answer as ScheduleTally;
      for (const { seed, leaked } of tally.leaks) console.log(`  LEAK ${leaked.join(', ')}: schedule ${seed}`);
      total = addTallies(total, tally);
      done.add(number);
      if (Date.now() - reported < REPORT_MS) return;
      reported = Date.now();
      const perSecond = total.schedules / ((reported - started) / 1000);
      const left = Math.ceil((count - total.schedules) / perSecond / 60);
      console.log(
        `  ${total.schedules} of ${count}, ${Math.round(perSecond)} a second, about ${left} min left; go on with --seed ${Math.min(first + count, first + done.next * SCHEDULES_PER_TASK)}`,
      );
    },
  );
  return total;
}

const percent = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;

const options = readOptions();
if (options.help) console.log(HELP);
else if (!options.isGood) {
  console.error(
    '--schedules, --seed, --share and --workers take whole numbers and --sizes some of 3,4,5, for example --schedules 1000000 --workers 8; --share takes one size below 256 shares',
  );
  process.exitCode = 2;
} else {
  const pool: Pool = createWorkerPool({
    ...workerModule(import.meta.url, './oracle-worker'),
    size: options.workers,
  });
  const begun = Date.now();
  const exhaustive = options['no-exhaustive'] ? {} : await runExhaustive(pool, options.sizes, options.share);
  const tally = await runGenerated(pool, options.seed, options.schedules);
  await pool.close();
  const leaks = tally.leaks.length + Object.values(exhaustive).reduce((sum, one) => sum + one.leaks.length, 0);
  console.log(
    [
      `${tally.schedules} schedules from ${options.seed}: ${percent(tally.filled, tally.schedules)} filled a buffer, ${percent(tally.closed, tally.schedules)} closed one,`,
      `${percent(tally.withColluders, tally.schedules)} with colluders, ${percent(tally.withLies, tally.schedules)} with a lying server (${tally.lies} lies).`,
      `${tally.sumsFound} of ${tally.sums} sums found, ${tally.sumsWithheld} spoilt by the server's own lies. Leaks: ${leaks}.`,
    ].join('\n'),
  );
  if (options.json) {
    const [seed, seconds] = [options.seed, secondsSince(begun)];
    const nextSeed = seed + tally.schedules;
    console.log(JSON.stringify({ oracle: { seed, nextSeed, seconds, leaks, exhaustive, generated: tally } }));
  }
  const isBlind = tally.sumsFound + tally.sumsWithheld !== tally.sums;
  if (isBlind) console.error('The oracle did not find a sum that could be opened, so it may also miss a leak.');
  process.exitCode = leaks === 0 && !isBlind ? 0 : 1;
}
