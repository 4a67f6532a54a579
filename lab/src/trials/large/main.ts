/**
 * `npm run lab -- trial large [--dimension N] [--users K] [--workers N] [--at-once N] [--json]`: one batch through real processes. Its sum
 * must be exact.
 */
import { parseArgs } from 'node:util';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';

const { values } = parseArgs({
  options: {
    dimension: { type: 'string', default: '7850' },
    users: { type: 'string', default: '10000' },
    workers: { type: 'string', default: '2' },
    'at-once': { type: 'string', default: '8' },
    ...SWITCHES,
  },
});
const [dimension, users, workers, atOnce] = [values.dimension, values.users, values.workers, values['at-once']].map(
  Number,
) as [number, number, number, number];

if (values.help) {
  console.log(`npm run lab -- trial large [--dimension N] [--users K] [--workers N] [--at-once N] [--json]

Measures the time of each step and the peak memory of server and authority for one batch of K vectors (default: 10,000) with N numbers
(default: 7,850), and checks that the sum is exact. Vectors may be long: --dimension 50000000 --users 10 --at-once 1.`);
} else if (![dimension, users, workers, atOnce].every((n) => Number.isSafeInteger(n) && n > 0) || users < 3) {
  console.error(
    '--dimension, --users (at least 3), --workers and --at-once take whole numbers, for example --dimension 1000000',
  );
  process.exitCode = 2;
} else {
  const { runOneBatch } = await import('./one-batch.ts');
  const result = await runOneBatch({ dimension, users, workers, atOnce });
  for (const [name, value] of Object.entries(result))
    console.log(`${name}: ${typeof value === 'number' ? Number(value.toFixed(2)) : value}`);
  if (values.json) console.log(JSON.stringify(result));
  process.exitCode = result.exact ? 0 : 1;
}
