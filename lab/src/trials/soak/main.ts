/** `npm run lab -- trial soak`: runs many batches, and measures memory and disk. */
import { writeFileSync } from 'node:fs';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { runTrial } from '../program.ts';

await runTrial(
  {
    name: 'trial soak',
    usage: '[--buffers N] [--restarts N] [--devices N] [--liars N] [--buffer-size K] [--plot file.svg]',
    about:
      'Runs N batches (default: 1000) with drop-outs, duplicates, liars (default: 1 of 10 devices) and up to 8 restarts, and measures memory and disk.',
    numbers: { buffers: 1000, restarts: 8, devices: 10, liars: 1, 'buffer-size': 4 },
    words: ['plot'],
  },
  async ({ seed, onLine }, { 'buffer-size': bufferSize, ...numbers }, { plot }) => {
    if (numbers.devices < bufferSize || bufferSize < 2)
      throw new MissingError('--buffer-size is at least 2, and there are at least as many --devices');
    const { plotOf } = await import('./plot.ts');
    const { runSoak } = await import('./run.ts');
    const { samples, lives, ...report } = await runSoak({
      ...numbers,
      bufferSize,
      seed,
      onSample: ({ buffers: ended, ...one }) => {
        const values = Object.entries(one).map(([name, value]) => `${name} ${value.toFixed(1)}`);
        onLine(`${String(ended).padStart(5)}  ${values.join('  ')}`);
      },
    });
    for (const { role, fromBuffer, toBuffer, kilobytesPerBuffer } of lives)
      onLine(`${role}: ${kilobytesPerBuffer.toFixed(1)} kB a batch in the longest life, ${fromBuffer} to ${toBuffer}`);
    if (plot !== undefined) writeFileSync(plot, plotOf(samples));
    return { ...report, details: { lives, samples } };
  },
);
