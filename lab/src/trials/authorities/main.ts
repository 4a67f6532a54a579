/**
 * `npm run lab -- trial authorities [--engine cp-abe|one-shot] [--kills N] [--seed N] [--json]`: kills authorities under load and keeps
 * some of them down. Nothing may be lost.
 */
import { parseArgs } from 'node:util';
import { secondsSince } from '@basa/testkit/programs/seconds.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { isTrialEngine, WRONG_ENGINE } from '../engines.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '60' },
    engine: { type: 'string', default: 'slot-keys' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    ...SWITCHES,
  },
});
if (values.help) {
  console.log(
    `npm run lab -- trial authorities [--engine cp-abe|one-shot] [--kills N] [--seed N] [--json]

Runs four authorities, of which three are needed, a server and devices, each as a process. First, random authorities are killed and
restarted N times (default: 60). Then one authority stays down while devices continue and other processes are killed. Then a second
authority is down: devices get a clear message, wait, and continue when it is back. Nothing may be lost.
You can add the counts of runs with different seeds.`,
  );
} else {
  const { runAuthorities } = await import('./run.ts');
  const [kills, seed] = [Number(values.kills), Number(values.seed)];
  if (!(Number.isSafeInteger(kills) && kills > 0 && Number.isSafeInteger(seed))) {
    console.error('--kills and --seed take positive whole numbers, for example --kills 20');
    process.exit(2);
  }
  const { engine } = values;
  if (!isTrialEngine(engine)) {
    console.error(WRONG_ENGINE);
    process.exit(2);
  }
  console.log(`${kills} kills, seed ${seed}, engine ${engine}, 4 authorities of which 3 are needed`);
  const begun = Date.now();
  const { problems, moments, ...counts } = await runAuthorities({
    kills,
    seed,
    engine,
    onLine: (line) => console.log(line),
  });
  console.log('\nauthorities died at:');
  for (const [moment, count] of Object.entries(moments)) console.log(`${String(count).padStart(4)}  ${moment}`);
  console.log();
  for (const [name, count] of Object.entries(counts)) console.log(`${name.padEnd(20)}${count}`);
  for (const problem of problems) console.log(`WRONG: ${problem}`);
  if (values.json)
    console.log(JSON.stringify({ authorities: { seed, engine, seconds: secondsSince(begun), ...counts, problems } }));
  process.exitCode = problems.length === 0 ? 0 : 1;
}
