/**
 * `npm run lab -- trial crash [--store postgres] [--engine cp-abe|one-shot|one-shot-groups] [--kills N] [--seed N] [--json]`: kills
 * processes with kill -9 under load. Nothing may be lost.
 */
import { parseArgs } from 'node:util';
import { secondsSince } from '@basa/testkit/programs/seconds.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { isTrialEngine, WRONG_ENGINE } from '../engines.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    store: { type: 'string', default: 'embedded' },
    engine: { type: 'string', default: 'slot-keys' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    ...SWITCHES,
  },
});
if (values.help) {
  console.log(
    `npm run lab -- trial crash [--store postgres] [--engine cp-abe|one-shot|one-shot-groups] [--kills N] [--seed N] [--json]

Kills server, authority and devices N times (default: 200), at random moments and when they make data durable. Nothing may be lost.
With --store postgres, the server has three nodes on one database. Nodes are then also stopped for longer than their leases, and the
database is killed too. You can add the counts of runs with different seeds.`,
  );
} else {
  const { runCrashes } = await import('./run.ts');
  const [kills, seed] = [Number(values.kills), Number(values.seed)];
  if (!(Number.isSafeInteger(kills) && kills > 0 && Number.isSafeInteger(seed))) {
    console.error('--kills and --seed take positive whole numbers, for example --kills 20');
    process.exit(2);
  }
  const { store } = values;
  if (store !== 'embedded' && store !== 'postgres') {
    console.error('--store takes embedded or postgres');
    process.exit(2);
  }
  const { engine } = values;
  if (!isTrialEngine(engine)) {
    console.error(WRONG_ENGINE);
    process.exit(2);
  }
  console.log(`${kills} kills, seed ${seed}, store ${store}, engine ${engine}`);
  const begun = Date.now();
  const onKill = (line: string): void => console.log(line);
  const { problems, moments, ...counts } = await runCrashes({ kills, seed, store, engine, onKill });
  for (const [role, deaths] of Object.entries(moments)) {
    console.log(`\n${role} died at:`);
    for (const [moment, count] of Object.entries(deaths)) console.log(`${String(count).padStart(4)}  ${moment}`);
  }
  console.log();
  for (const [name, count] of Object.entries(counts)) console.log(`${name.padEnd(14)}${count}`);
  for (const problem of problems) console.log(`WRONG: ${problem}`);
  if (values.json)
    console.log(JSON.stringify({ crash: { seed, store, engine, seconds: secondsSince(begun), ...counts, problems } }));
  process.exitCode = problems.length === 0 ? 0 : 1;
}
