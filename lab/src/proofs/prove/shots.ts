/** `npm run lab -- prove shots [--schedules N] [--authorities N] [--faults N] [--seed S] [--json]`: the one-shot mode, searched. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { createWorkerPool, type WorkerPool, workerModule } from '@basa/runtime/node';
import { secondsSince } from '@basa/testkit/programs/seconds.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { addSituations, NO_SITUATIONS, type Tally } from '../oracle/shot-courses.ts';
import { SHOT_ENDS, type ShotFaults } from '../oracle/shot-faults.ts';
import { addShotTallies, NO_SHOT_SCHEDULES, SHOT_AUTHORITIES, type ShotTally } from '../oracle/shot-schedule.ts';
import { forEachTask, Gapless } from './numbered-tasks.ts';
import { runShotTask, type ShotAnswer, type ShotTask } from './shots-tasks.ts';

const HELP = `npm run lab -- prove shots [--schedules N] [--authorities N] [--faults N] [--devices N] [--no-exhaustive] [--seed S] [--workers N] [--json]

Checks the one-shot mode in three parts. First: every sequence of three steps with one authority, for K = 2 and 3, and for K = 4 with four
devices (batches, restores, clocks, updates that expire, versions). Second: generated schedules with one authority, or with four
authorities of which one colludes with the server. In both parts, everything except the sums of final batches is a leak.
Third: runs with crashes after any record, lost and repeated messages, and restores. In these runs every acknowledged update must end
as included, expired, quarantined, refused or unknown.

  --schedules N     number of generated schedules (default: 100000)
  --authorities N   1: only schedules with one authority; 4: only schedules with four (default: both kinds)
  --faults N        number of runs with faults (default: 2000)
  --devices N       honest devices of the first part, 3 or 4 (default: 3)
  --seed S          number of the first schedule and of the first run (default: 1). To continue the schedules, give the number that
                    the run printed
  --share S         continue the first part from this share, as printed (default: 0)
  --no-exhaustive   leave out the first part
  --workers N       number of worker threads (default: one per core); it does not change the result. 0: no thread, so that a bundle of
                    this program is one file, and several processes on one machine use one core each
  --json            print the result as one JSON object in the last line`;

const SIZES = [
  { bufferSize: 2, minimum: 2 },
  { bufferSize: 3, minimum: 2 },
  { bufferSize: 3, minimum: 3 },
  { bufferSize: 4, minimum: 3 },
];
const SHARES = 128;
const PER_TASK = 50;
const REPORT_MS = 5000;

type Pool = WorkerPool<ShotTask, ShotAnswer>;

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '100000' },
    faults: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    authorities: { type: 'string', default: '' },
    devices: { type: 'string', default: '3' },
    share: { type: 'string', default: '0' },
    workers: { type: 'string', default: String(availableParallelism()) },
    'no-exhaustive': { type: 'boolean', default: false },
    ...SWITCHES,
  },
});
const numbers = [values.schedules, values.faults, values.seed, values.workers, values.devices, values.share].map(
  Number,
);
const [schedules = 0, faults = 0, seed = 1, workers = 1, devices = 3, firstShare = 0] = numbers;
const authorities = SHOT_AUTHORITIES.find((count) => String(count) === values.authorities);

function createShotPool(size: number): Pool {
  return createWorkerPool({ ...workerModule(import.meta.url, './shots-worker'), size });
}

const IN_THIS_THREAD: Pool = { size: 1, run: async (task) => runShotTask(task), close: async () => {} };

/** Prints a line if the last one is some seconds old. */
class Reporter {
  #reported = Date.now();

  tell(line: () => string): void {
    if (Date.now() - this.#reported < REPORT_MS) return;
    this.#reported = Date.now();
    console.log(`  ${line()}`);
  }
}

/** The shares of all sizes are numbered one after the other, so that one number continues a run. */
async function runCourses(pool: Pool): Promise<Tally> {
  let total = NO_SITUATIONS;
  const reporter = new Reporter();
  for (const [n, size] of SIZES.filter(({ bufferSize }) => bufferSize <= devices).entries()) {
    let tally = NO_SITUATIONS;
    const first = Math.min(SHARES, Math.max(0, firstShare - n * SHARES));
    const done = new Gapless(first);
    await forEachTask(
      pool,
      { first, count: SHARES },
      (index): ShotTask => ({ kind: 'courses', devices, ...size, share: { index, of: SHARES } }),
      (index, answer) => {
        tally = addSituations(tally, answer as Tally);
        done.add(index);
        reporter.tell(
          () =>
            `K = ${size.bufferSize}, Kmin = ${size.minimum}: ${tally.situations} courses, ${tally.leaks.length} leaks; go on with --share ${n * SHARES + done.next}`,
        );
      },
    );
    console.log(
      `${devices} devices, K = ${size.bufferSize}, Kmin = ${size.minimum}: ${tally.situations} courses, ${tally.sums} sums of which ${tally.sumsFound} found, ${tally.leaks.length} leaks`,
    );
    for (const { situation, leaked } of tally.leaks.slice(0, 5))
      console.log(`  LEAK ${leaked.join(', ')}: ${situation}`);
    total = addSituations(total, tally);
  }
  return total;
}

/** Splits the numbers up to `count` into tasks, and passes each answer on with the number after which all before it have arrived. */
async function runPieces<Answer extends ShotAnswer>(
  pool: Pool,
  kind: 'schedules' | 'faults',
  count: number,
  onAnswer: (answer: Answer, nextSeed: number) => void,
): Promise<void> {
  const done = new Gapless();
  await forEachTask(
    pool,
    { count: Math.ceil(count / PER_TASK) },
    (n): ShotTask => {
      const piece = { seed: seed + n * PER_TASK, count: Math.min(PER_TASK, count - n * PER_TASK) };
      return kind === 'faults' ? { kind, ...piece } : { kind, ...piece, authorities };
    },
    (n, answer) => {
      done.add(n);
      onAnswer(answer as Answer, seed + Math.min(count, done.next * PER_TASK));
    },
  );
}

async function runSchedules(pool: Pool): Promise<ShotTally> {
  let tally = NO_SHOT_SCHEDULES;
  const reporter = new Reporter();
  await runPieces<ShotTally>(pool, 'schedules', schedules, (answer, nextSeed) => {
    tally = addShotTallies(tally, answer);
    reporter.tell(
      () => `${tally.schedules} of ${schedules} schedules, ${tally.leaks.length} leaks; go on with --seed ${nextSeed}`,
    );
  });
  console.log(
    `${tally.schedules} schedules from ${seed}: ${tally.withOneAuthority} with one authority, ${tally.withFourAuthorities} with four, ${tally.withColluders} with colluders, ${tally.closed} with a final batch, ${tally.sumsFound} of ${tally.sums} sums found, ${tally.leaks.length} leaks`,
  );
  for (const leak of tally.leaks.slice(0, 5))
    console.log(
      `  LEAK ${[...leak.leaked, ...leak.broken].join(', ')}: schedule ${leak.seed} with ${leak.authorities} authorities`,
    );
  return tally;
}

async function runFaults(pool: Pool) {
  const runs: ShotFaults[] = [];
  await runPieces<readonly ShotFaults[]>(pool, 'faults', faults, (answer) => runs.push(...answer));
  const sum = (of: (run: ShotFaults) => number): number => runs.reduce((total, run) => total + of(run), 0);
  const ends = Object.fromEntries(SHOT_ENDS.map((end) => [end, sum((run) => run.ends[end])]));
  const broken = runs.filter((run) => run.broken.length > 0);
  const [updates, batches] = [sum((run) => run.updates), sum((run) => run.batches)];
  const words = Object.entries(ends).map(([end, count]) => `${count} ${end}`);
  console.log(
    `${runs.length} runs with faults: ${batches} sums, ${updates} updates (${words.join(', ')}), ${broken.length} broken`,
  );
  for (const run of broken.slice(0, 5)) console.log(`  BROKEN ${run.broken.join(', ')}: run ${run.seed}`);
  return { runs: runs.length, batches, updates, ends, broken: broken.length };
}

if (values.help) console.log(HELP);
else if (
  !numbers.every((value) => Number.isSafeInteger(value) && value >= 0) ||
  (values.authorities !== '' && authorities === undefined)
) {
  console.error(
    '--schedules, --faults, --devices, --seed, --share and --workers take whole numbers, for example --schedules 10000, and --authorities takes 1 or 4',
  );
  process.exitCode = 2;
} else {
  const begun = Date.now();
  const pool = workers === 0 ? IN_THIS_THREAD : createShotPool(workers);
  const courses = values['no-exhaustive'] ? NO_SITUATIONS : await runCourses(pool);
  const generated = await runSchedules(pool);
  const faulty = await runFaults(pool);
  await pool.close();
  const seconds = secondsSince(begun);
  if (values.json)
    console.log(
      JSON.stringify({
        shots: { seed, nextSeed: seed + generated.schedules, seconds, courses, generated, faults: faulty },
      }),
    );
  process.exitCode = courses.leaks.length + generated.leaks.length + faulty.broken === 0 ? 0 : 1;
}
