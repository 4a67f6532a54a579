/** Prints a measured close as a table, with the total time and the time of the mask expansions. */
import { formatTable } from '../table.ts';
import type { MeasuredClose } from './close.ts';

export function closeText(close: MeasuredClose): string {
  const { bufferSize, dropped, dimension, workers, expansions, expansionMs, closeMs, processorMs } = close;
  const masksMs = expansions * expansionMs;
  return [
    `A close: K = ${bufferSize}, ${dropped} dropped, d = ${dimension.toLocaleString('en')}, ${workers} worker threads.`,
    formatTable(
      ['', 'ms', 'of the masks'],
      [
        [`${expansions} masks of ${expansionMs.toFixed(2)} ms, one thread`, masksMs.toFixed(0), '1.00'],
        ['processor time of the server', processorMs.toFixed(0), (processorMs / masksMs).toFixed(2)],
        [`the same masks in ${workers} threads`, (masksMs / workers).toFixed(0), '1.00'],
        ['from the freeze to the new version', closeMs.toFixed(0), ((workers * closeMs) / masksMs).toFixed(2)],
      ],
    ),
  ].join('\n');
}
