/** Private runs, each trained once and kept. */
import { workerModule } from '@basa/runtime/node';
import type { OwnTraining } from '../run/context.ts';
import { type Finished, runOwn } from '../run/own-runs.ts';
import type { PrivateRun, PrivateTrained } from './private-run.ts';

export type FinishedRun = Finished<PrivateRun, PrivateTrained>;

export function runPrivately(runs: readonly PrivateRun[], own: OwnTraining): Promise<readonly FinishedRun[]> {
  return runOwn(runs, own, {
    kept: 'private',
    worker: workerModule(import.meta.url, './private-worker'),
    updatesOf: ({ buffers, bufferSize }) => buffers * bufferSize,
  });
}
