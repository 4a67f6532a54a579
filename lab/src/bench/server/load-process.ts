/** A process that sends requests which it was given: the bench itself must not be what uploads wait for. */
import type { HeldRequest } from './held-devices.ts';
import { loadHttp } from './load.ts';

export interface LoadWork {
  readonly requests: readonly HeldRequest[];
  readonly atOnce: number;
}

let work: LoadWork = { requests: [], atOnce: 1 };

process.on('message', async (message: LoadWork | 'go') => {
  if (message !== 'go') {
    work = message;
    process.send?.('ready');
    return;
  }
  const { ms } = await loadHttp(work.requests, work.atOnce);
  process.send?.(ms);
});
process.once('disconnect', () => process.exit());
