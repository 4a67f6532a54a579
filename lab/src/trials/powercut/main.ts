/**
 * `npm run lab -- trial powercut [--engine cp-abe|one-shot] [--cuts N] [--seed N] [--json]`: simulates power cuts under load. Nothing
 * acknowledged may be lost.
 */
import { parseArgs } from 'node:util';
import { secondsSince } from '@basa/testkit/programs/seconds.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { isTrialEngine, type TrialEngine, WRONG_ENGINE } from '../engines.ts';

const { values } = parseArgs({
  options: {
    cuts: { type: 'string', default: '100' },
    engine: { type: 'string', default: 'slot-keys' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    ...SWITCHES,
  },
});
if (values.help) {
  console.log(`npm run lab -- trial powercut [--engine cp-abe|one-shot] [--cuts N] [--seed N] [--json]

Simulates N power cuts of server, authority and devices (default: 100), at random moments and when they make data durable. Each time the
process is killed, and all or some of its data that was not flushed is removed, including names of files. Needs Linux and gcc.
You can add the counts of runs with different seeds.`);
} else {
  const [cuts, seed] = [Number(values.cuts), Number(values.seed)];
  if (!(Number.isSafeInteger(cuts) && cuts > 0 && Number.isSafeInteger(seed))) {
    console.error('--cuts and --seed take positive whole numbers, for example --cuts 20');
    process.exit(2);
  }
  const { engine } = values;
  if (!isTrialEngine(engine)) {
    console.error(WRONG_ENGINE);
    process.exit(2);
  }
  console.log(`${cuts} power cuts, seed ${seed}, engine ${engine}`);
  process.exitCode = await run(cuts, seed, engine);
}

async function run(kills: number, seed: number, engine: TrialEngine): Promise<number> {
  const { runCrashes } = await import('../crash/run.ts');
  const begun = Date.now();
  const onKill = (line: string): void => console.log(line);
  const report = await runCrashes({ kills, seed, engine, isPowerCut: true, onKill });
  const { problems, moments: _, kills: __, powerCuts, ...counts } = report;
  const all = { ...powerCuts, ...counts };
  for (const [name, count] of Object.entries(all)) console.log(`${name.padEnd(14)}${count}`);
  for (const problem of problems) console.log(`WRONG: ${problem}`);
  if (values.json)
    console.log(JSON.stringify({ powercut: { seed, engine, seconds: secondsSince(begun), ...all, problems } }));
  return problems.length === 0 ? 0 : 1;
}
