/**
 * `npm run lab -- trial soak [--engine cp-abe|one-shot] [--buffers N] [--seed N] [--restarts N] [--devices N] [--liars N] [--buffer-size K]
 * [--plot file.svg] [--json]`: runs many buffers, and measures memory and disk.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { secondsSince } from '@basa/testkit/programs/seconds.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { isTrialEngine, WRONG_ENGINE } from '../engines.ts';

const { values } = parseArgs({
  options: {
    buffers: { type: 'string', default: '1000' },
    engine: { type: 'string', default: 'slot-keys' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    restarts: { type: 'string', default: '8' },
    devices: { type: 'string', default: '10' },
    liars: { type: 'string', default: '1' },
    'buffer-size': { type: 'string', default: '4' },
    plot: { type: 'string' },
    ...SWITCHES,
  },
});
if (values.help) {
  console.log(
    'npm run lab -- trial soak [--engine cp-abe|one-shot] [--buffers N] [--seed N] [--restarts N] [--devices N] [--liars N] [--buffer-size K] [--plot file.svg] [--json]\n\nRuns N buffers (default: 1000) with drop-outs, duplicates, liars (default: 1 of 10 devices) and up to 8 restarts, and measures memory and disk.',
  );
} else {
  const { plotOf } = await import('./plot.ts');
  const { runSoak } = await import('./run.ts');
  const [buffers, seed, restarts] = [Number(values.buffers), Number(values.seed), Number(values.restarts)];
  const [devices, liars, bufferSize] = [Number(values.devices), Number(values.liars), Number(values['buffer-size'])];
  const numbers = [buffers, seed, restarts, devices, liars, bufferSize];
  if (
    !(
      numbers.every((n) => Number.isSafeInteger(n) && n >= 0) &&
      buffers > 0 &&
      devices >= bufferSize &&
      bufferSize >= 2
    )
  ) {
    console.error(
      'all of these take whole numbers, for example --buffers 50, and there are at least as many devices as --buffer-size',
    );
    process.exit(2);
  }
  const { engine } = values;
  if (!isTrialEngine(engine)) {
    console.error(WRONG_ENGINE);
    process.exit(2);
  }
  console.log(`${buffers} buffers, seed ${seed}, engine ${engine}`);
  const begun = Date.now();
  const { samples, problems, lives, ...counts } = await runSoak({
    buffers,
    seed,
    restarts,
    devices,
    liars,
    bufferSize,
    engine,
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
  if (values.json)
    console.log(
      JSON.stringify({ soak: { seed, engine, seconds: secondsSince(begun), ...counts, problems, lives, samples } }),
    );
  process.exitCode = problems.length === 0 ? 0 : 1;
}
