/** `npm run prove:oracle -- [--schedules N] [--seed S] [--json]`: the long version of the leak oracle. */
import { parseArgs } from 'node:util';
import type { ScheduleTally, Tally } from '@basa/simulator';
import { addTallies, NO_SCHEDULES, runEverySituation, runSchedules } from '@basa/simulator';

const HELP = `npm run prove:oracle -- [--schedules N] [--seed S] [--no-exhaustive] [--json]

Runs the protocol core over every situation of K = 3, 4 and 5 and over N generated schedules (10^7 by default), and
solves which combinations of inputs server and colluders can compute. Anything but the honest sums is a leak.

  --schedules N     how many schedules (10000000)
  --seed S          the first schedule (0); they are numbered, so a run goes on with --seed <the number it printed>
  --no-exhaustive   only the generated schedules
  --json            the last line is one JSON object`;

const CHUNK = 1024;
const REPORT_MS = 5000;

function readOptions() {
  const { values } = parseArgs({
    options: {
      schedules: { type: 'string', default: '10000000' },
      seed: { type: 'string', default: '0' },
      'no-exhaustive': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const [schedules, seed] = [Number(values.schedules), Number(values.seed)];
  const isGood = [schedules, seed].every((value) => Number.isSafeInteger(value) && value >= 0);
  return { ...values, schedules, seed, isGood };
}

function runExhaustive(): Record<string, Tally> {
  const results: Record<string, Tally> = {};
  for (const bufferSize of [3, 4, 5]) {
    const tally = runEverySituation(bufferSize, (done) =>
      process.stderr.write(`  K = ${bufferSize}: ${done} situations\r`),
    );
    console.log(
      `K = ${bufferSize}: ${tally.situations} situations, ${tally.sums} sums of which ${tally.sumsFound} found, ${tally.leaks.length} leaks`,
    );
    for (const { situation, leaked } of tally.leaks.slice(0, 5))
      console.log(`  LEAK ${leaked.join(', ')}: ${situation}`);
    results[`K${bufferSize}`] = tally;
  }
  return results;
}

function runGenerated(first: number, count: number): ScheduleTally {
  const started = Date.now();
  let [total, reported] = [NO_SCHEDULES, started];
  while (total.schedules < count) {
    const from = first + total.schedules;
    const tally = runSchedules(from, Math.min(CHUNK, count - total.schedules));
    for (const { seed, leaked } of tally.leaks) console.log(`  LEAK ${leaked.join(', ')}: schedule ${seed}`);
    total = addTallies(total, tally);
    if (Date.now() - reported < REPORT_MS) continue;
    reported = Date.now();
    const perSecond = total.schedules / ((reported - started) / 1000);
    const left = Math.ceil((count - total.schedules) / perSecond / 60);
    console.log(
      `  ${total.schedules} of ${count}, ${Math.round(perSecond)} a second, about ${left} min left; go on with --seed ${first + total.schedules}`,
    );
  }
  return total;
}

const percent = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;

const options = readOptions();
if (options.help) console.log(HELP);
else if (!options.isGood) {
  console.error('--schedules and --seed take whole numbers, for example --schedules 1000000');
  process.exitCode = 2;
} else {
  const exhaustive = options['no-exhaustive'] ? {} : runExhaustive();
  const tally = runGenerated(options.seed, options.schedules);
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
