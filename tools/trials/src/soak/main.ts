/** `npm run trial -- soak [--buffers N] [--seed N] [--restarts N] [--plot file.svg] [--json]`: many buffers, and what they leave behind. */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { plotOf } from './plot.ts';
import { runSoak } from './run.ts';

const { values } = parseArgs({
  options: {
    buffers: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    restarts: { type: 'string', default: '8' },
    plot: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(
    'npm run trial -- soak [--buffers N] [--seed N] [--restarts N] [--plot file.svg] [--json]\n\nRuns N buffers (1000 by default) with drop-outs, duplicates, liars and restarts (8 at most by default).',
  );
} else {
  const [buffers, seed, restarts] = [Number(values.buffers), Number(values.seed), Number(values.restarts)];
  if (!([buffers, seed, restarts].every(Number.isSafeInteger) && buffers > 0 && restarts >= 0)) {
    console.error('--buffers, --seed and --restarts take whole numbers, for example --buffers 50');
    process.exit(2);
  }
  console.log(`${buffers} buffers, seed ${seed}`);
  const { samples, problems, lives, ...counts } = await runSoak({
    buffers,
    seed,
    restarts,
    onSample: ({ buffers: ended, ...one }) =>
      console.log(
        `${String(ended).padStart(5)}  ${Object.entries(one)
          .map(([name, value]) => `${name} ${value.toFixed(1)}`)
          .join('  ')}`,
      ),
  });
  for (const [name, count] of Object.entries(counts)) console.log(`${name.padEnd(14)}${count}`);
  for (const { role, fromBuffer, toBuffer, kilobytesPerBuffer } of lives)
    console.log(
      `${role}: ${kilobytesPerBuffer.toFixed(1)} kB a buffer in the longest life, ${fromBuffer} to ${toBuffer}`,
    );
  for (const problem of problems) console.log(`WRONG: ${problem}`);
  if (values.plot !== undefined) writeFileSync(values.plot, plotOf(samples));
  if (values.json) console.log(JSON.stringify({ ...counts, lives, samples }));
  process.exitCode = problems.length === 0 ? 0 : 1;
}
