/**
 * `npm run lab -- prove councils [--schedules N] [--seed S] [--workers N] [--json]`: the knowledge of a server that
 * colludes with some authorities.
 */
import { availableParallelism } from 'node:os';
import { createWorkerPool, workerModule } from '@basa/runtime/node';
import { secondsSince } from '@basa/testkit/programs/seconds.ts';
import type { CouncilVerdict } from '../oracle/council.ts';
import type { CouncilShape } from '../oracle/council-world.ts';
import type { CouncilTask } from './councils-worker.ts';
import { forEachTask, Gapless } from './numbered-tasks.ts';
import { readOptions } from './options.ts';

const HELP = `npm run lab -- prove councils [--schedules N] [--seed S] [--workers N] [--json]

A lying server asks each authority to vote for a different set of updates, and to release keys for a different close. It colludes with one
of four authorities, and three are needed. In each of N schedules it may learn at most the sum of one closed set. The check must also find
leaks: if the server colludes with two of four authorities, or with one of three of which two are needed, it must learn more.

  --schedules N   number of schedules (default: 100000); councils that must leak get 1 % of it, but at least 600
  --seed S        first seed (default: 1); every 500 schedules use the next one. To continue a run, give the number that it printed
  --workers N     number of worker threads (default: one per core); it does not change the result
  --json          print the result as one JSON object in the last line`;

/** The councils that must leak, and the council that must not leak. */
const LEAKING: readonly CouncilShape[] = [
  { authorities: 4, threshold: 3, colluding: 2 },
  { authorities: 3, threshold: 2, colluding: 1 },
];
const SAFE: CouncilShape = { authorities: 4, threshold: 3, colluding: 1 };
const SCHEDULES_PER_TASK = 500;
const MIN_SCHEDULES = 600;
const REPORT_MS = 5000;

const { schedules, seed, workers, json } = readOptions({
  help: HELP,
  numbers: { schedules: 100_000, seed: 1, workers: availableParallelism() },
  example: '--schedules 10000',
});
const pool = createWorkerPool<CouncilTask, CouncilVerdict>({
  ...workerModule(import.meta.url, './councils-worker'),
  size: workers,
});
const judged = async (shape: CouncilShape, count: number) => {
  const tasks = Array.from({ length: Math.ceil(count / SCHEDULES_PER_TASK) }, (_, n) => ({
    shape,
    seed: seed + n,
    schedules: Math.min(SCHEDULES_PER_TASK, count - n * SCHEDULES_PER_TASK),
  }));
  const begun = Date.now();
  let total = { schedules: 0, closed: 0, sums: 0, leaks: 0 };
  let first: readonly string[] | undefined;
  const done = new Gapless();
  let reported = begun;
  await forEachTask(
    pool,
    { count: tasks.length },
    (number) => tasks[number] as CouncilTask,
    (number, one) => {
      first ??= one.first?.learned;
      total = {
        schedules: total.schedules + one.schedules,
        closed: total.closed + one.closed,
        sums: total.sums + one.sums,
        leaks: total.leaks + one.leaks,
      };
      done.add(number);
      if (shape !== SAFE || Date.now() - reported < REPORT_MS) return;
      reported = Date.now();
      console.log(`  ${total.schedules} of ${count}, ${total.leaks} leaks; go on with --seed ${seed + done.next}`);
    },
  );
  const seconds = secondsSince(begun);
  console.log(
    `${shape.threshold} of ${shape.authorities} authorities, ${shape.colluding} colluding: ${total.schedules} schedules, ${total.closed} closed, ${total.sums} sums found, ${total.leaks} leaks${first === undefined ? '' : ` (${first.join(', ')})`}, ${seconds} s`,
  );
  return { ...shape, ...total, seconds };
};
const safe = await judged(SAFE, schedules);
const leaking = [];
for (const shape of LEAKING) leaking.push(await judged(shape, Math.max(MIN_SCHEDULES, Math.round(schedules / 100))));
await pool.close();
const nextSeed = seed + Math.ceil(schedules / SCHEDULES_PER_TASK);
if (json) console.log(JSON.stringify({ councils: { seed, nextSeed, safe, leaking } }));
process.exitCode = safe.leaks === 0 && safe.sums > 0 && leaking.every(({ leaks }) => leaks > 0) ? 0 : 1;
