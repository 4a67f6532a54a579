/** `npm run lab -- prove shots [--schedules N] [--steps N] [--states N] [--faults N] [--seed S] [--json]`: the one-shot mode, searched. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { createWorkerPool, type WorkerPool, workerModule } from '@basa/runtime/node';
import { secondsSince } from '@basa/testkit/programs/seconds.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { courses } from '../../oracle/courses.ts';
import { EXHAUSTIVE, Exhaustive } from '../../oracle/exhaustive.ts';
import type { FaultyRun } from '../../oracle/faults.ts';
import { addTallies, NO_SCHEDULES, SHAPES, type ShapeName, type Tally } from '../../oracle/schedules.ts';
import { forEachTask, Gapless } from './numbered-tasks.ts';
import type { ShotAnswer, ShotTask } from './shots-tasks.ts';

const HELP = `npm run lab -- prove shots [--schedules N] [--steps N] [--states N] [--faults N] [--seed S] [--workers N] [--json]

Checks the one-shot mode in four parts, the last three on the real services and the real SDK, in one process and on one clock. First: every
course of three devices over the functions of the protocol. Second: every course of some steps with one authority (batches of any uploads,
restores, starts, clocks, time). Third: generated schedules with one authority, and with three and four of which one colludes with the
server. In these parts, everything except sums of enough devices on one model is a leak. Fourth: runs with an honest server, lost messages, starts and restores, after which every acknowledged update has one end.

  --schedules N   generated schedules of each set of authorities (default: 2000)
  --shape S       only one set of authorities: ${Object.keys(SHAPES).join(' or ')}
  --steps N       steps of a course (default: 2; with 0, no courses and no first part)
  --states N      states of each set of authorities in the first part (default: 0, which is all; with four authorities, that takes hours)
  --faults N      runs with faults (default: 100)
  --seed S        number of the first schedule and of the first run (default: 1). To continue, give the number that the run printed
  --workers N     number of worker threads (default: one per core); it does not change the result
  --json          print the result as one JSON object in the last line`;

const SHARES = 64;
const PER_TASK = 10;
const REPORT_MS = 5000;

type Pool = WorkerPool<ShotTask, ShotAnswer>;

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '2000' },
    shape: { type: 'string', default: '' },
    steps: { type: 'string', default: '2' },
    states: { type: 'string', default: '0' },
    faults: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: String(availableParallelism()) },
    ...SWITCHES,
  },
});
const numbers = [values.schedules, values.steps, values.states, values.faults, values.seed, values.workers].map(Number);
const [schedules = 0, steps = 0, states = 0, faults = 0, seed = 1, workers = 1] = numbers;
const shapes = (Object.keys(SHAPES) as ShapeName[]).filter((name) => values.shape === '' || name === values.shape);

/** Prints a line if the last one is some seconds old. */
class Reporter {
  #reported = Date.now();

  tell(line: () => string): void {
    if (Date.now() - this.#reported < REPORT_MS) return;
    this.#reported = Date.now();
    console.log(`  ${line()}`);
  }
}

function told(what: string, { schedules: count, closed, sums, sumsFound, leaks }: Tally): void {
  console.log(
    `${count} ${what}, ${closed} with a released batch, ${sumsFound} of ${sums} sums found, ${leaks.length} leaks`,
  );
  for (const { name, leaked } of leaks.slice(0, 5)) console.log(`  LEAK ${leaked.join(', ')}: ${name}`);
}

function runExhaustive(): Readonly<Record<string, Tally>> {
  const chosen = Object.entries(EXHAUSTIVE).filter(([name]) => values.shape === '' || name === values.shape);
  const tallies = chosen.map(([name, shape]) => {
    const tally = new Exhaustive(shape).run(states || undefined);
    told(`states of three devices at (${name})`, tally);
    return [name, tally] as const;
  });
  return Object.fromEntries(tallies);
}

async function runCourses(pool: Pool): Promise<Tally> {
  let tally = NO_SCHEDULES;
  const reporter = new Reporter();
  const all = courses(steps);
  const of = Math.min(SHARES, all);
  await forEachTask(
    pool,
    { count: of },
    (index): ShotTask => ({ kind: 'courses', steps, share: { index, of } }),
    (_, answer) => {
      tally = addTallies(tally, answer as Tally);
      reporter.tell(() => `${tally.schedules} of ${all} courses, ${tally.leaks.length} leaks`);
    },
  );
  told(`courses of ${steps} steps with one authority`, tally);
  return tally;
}

/** Splits the numbers up to `count` into tasks, and passes each answer on with the number after which all before it have arrived. */
async function runPieces<Answer extends ShotAnswer>(
  pool: Pool,
  count: number,
  taskOf: (piece: { readonly seed: number; readonly count: number }) => ShotTask,
  onAnswer: (answer: Answer, nextSeed: number) => void,
): Promise<void> {
  const done = new Gapless();
  await forEachTask(
    pool,
    { count: Math.ceil(count / PER_TASK) },
    (n) => taskOf({ seed: seed + n * PER_TASK, count: Math.min(PER_TASK, count - n * PER_TASK) }),
    (n, answer) => {
      done.add(n);
      onAnswer(answer as Answer, seed + Math.min(count, done.next * PER_TASK));
    },
  );
}

async function runSchedules(pool: Pool, shape: ShapeName): Promise<Tally> {
  let tally = NO_SCHEDULES;
  const reporter = new Reporter();
  await runPieces<Tally>(
    pool,
    schedules,
    (piece) => ({ kind: 'schedules', shape, ...piece }),
    (answer, nextSeed) => {
      tally = addTallies(tally, answer);
      reporter.tell(
        () =>
          `${tally.schedules} of ${schedules} schedules at (${shape}), ${tally.leaks.length} leaks; go on with --seed ${nextSeed}`,
      );
    },
  );
  told(`schedules at (${shape}) from ${seed}`, tally);
  return tally;
}

async function runFaults(pool: Pool) {
  const runs: FaultyRun[] = [];
  await runPieces<readonly FaultyRun[]>(
    pool,
    faults,
    (piece) => ({ kind: 'faults', ...piece }),
    (answer) => runs.push(...answer),
  );
  const fates: Record<string, number> = {};
  for (const run of runs)
    for (const [fate, count] of Object.entries(run.fates)) fates[fate] = (fates[fate] ?? 0) + count;
  const broken = runs.filter((run) => run.broken.length > 0);
  const acknowledged = runs.reduce((sum, run) => sum + run.acknowledged, 0);
  const words = Object.entries(fates).map(([fate, count]) => `${count} ${fate}`);
  console.log(
    `${runs.length} runs with faults: ${acknowledged} acknowledged updates (${words.join(', ')}), ${broken.length} broken`,
  );
  for (const run of broken.slice(0, 5)) console.log(`  BROKEN ${run.broken.join(', ')}: run ${run.seed}`);
  return { runs: runs.length, acknowledged, fates, broken: broken.length };
}

if (values.help) console.log(HELP);
else if (!numbers.every((value) => Number.isSafeInteger(value) && value >= 0) || workers < 1 || shapes.length === 0) {
  console.error(
    `--schedules, --steps, --states, --faults, --seed and --workers take whole numbers, for example --schedules 1000, and --shape takes ${Object.keys(SHAPES).join(' or ')}`,
  );
  process.exitCode = 2;
} else {
  const begun = Date.now();
  const pool: Pool = createWorkerPool({ ...workerModule(import.meta.url, './shots-worker'), size: workers });
  const exhaustive = steps === 0 ? {} : runExhaustive();
  const short = steps === 0 ? NO_SCHEDULES : await runCourses(pool);
  const generated: Record<string, Tally> = {};
  for (const shape of shapes) generated[shape] = await runSchedules(pool, shape);
  const faulty = await runFaults(pool);
  await pool.close();
  const seconds = secondsSince(begun);
  if (values.json)
    console.log(
      JSON.stringify({
        shots: { seed, nextSeed: seed + schedules, seconds, exhaustive, courses: short, generated, faults: faulty },
      }),
    );
  const leaks = [short, ...Object.values(exhaustive), ...Object.values(generated)].flatMap((tally) => tally.leaks);
  process.exitCode = leaks.length + faulty.broken === 0 ? 0 : 1;
}
