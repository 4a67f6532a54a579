/** `npm run test:soak -- [--buffers N] [--seed N] [--plot file.svg] [--json]`: many buffers, and what they leave behind. */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { plotOf } from './soak/plot.ts';
import { runSoak } from './soak/run.ts';

const { values } = parseArgs({
  options: {
    buffers: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    plot: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(
    'npm run test:soak -- [--buffers N] [--seed N] [--plot file.svg] [--json]\n\nRuns N buffers (1000 by default) with drop-outs, duplicates, liars and restarts.',
  );
} else {
  const [buffers, seed] = [Number(values.buffers), Number(values.seed)];
  if (!(Number.isSafeInteger(buffers) && buffers > 0 && Number.isSafeInteger(seed))) {
    console.error('--buffers and --seed take positive whole numbers, for example --buffers 50');
    process.exit(2);
  }
  console.log(`${buffers} buffers, seed ${seed}`);
  const { samples, problems, lives, ...counts } = await runSoak({
    buffers,
    seed,
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
