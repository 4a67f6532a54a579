/** Private runs: each is trained once, kept in a file, and read by later runs. */
import { join } from 'node:path';
import { createWorkerPool, workerModule } from '@basa/runtime/node';
import type { TrainingRun } from '../run/context.ts';
import { TrainedStore } from '../training/trained-store.ts';
import type { PrivateRun, PrivateTrained } from './private-run.ts';

export interface FinishedRun {
  readonly run: PrivateRun;
  readonly trained: PrivateTrained;
}

/** Returns the finished runs. With `onlyFinished` some may be missing; otherwise all are there. */
export async function runPrivately(runs: readonly PrivateRun[], options: TrainingRun): Promise<readonly FinishedRun[]> {
  const store = new TrainedStore<PrivateTrained>(join(options.folder, 'private.jsonl'));
  if (options.onlyFinished !== true) await trainOpen(runs, store, options);
  return runs.flatMap((run): readonly FinishedRun[] => {
    const trained = store.get(nameOf(run));
    return trained === undefined ? [] : [{ run, trained }];
  });
}

async function trainOpen(
  runs: readonly PrivateRun[],
  store: TrainedStore<PrivateTrained>,
  { workers, signal, onProgress }: TrainingRun,
): Promise<void> {
  const open = runs.filter((run) => store.get(nameOf(run)) === undefined);
  if (open.length === 0) return;
  const all = open.reduce((sum, run) => sum + updatesOf(run), 0);
  const pool = createWorkerPool<PrivateRun, PrivateTrained>({
    ...workerModule(import.meta.url, './private-worker'),
    size: Math.min(workers, open.length),
  });
  const stop = (): void => void pool.close();
  signal.addEventListener('abort', stop, { once: true });
  let done = 0;
  try {
    onProgress({ done, all });
    await Promise.all(
      open.map(async (run) => {
        store.put(nameOf(run), await pool.run(run));
        done += updatesOf(run);
        onProgress({ done, all });
      }),
    );
  } finally {
    signal.removeEventListener('abort', stop);
    await pool.close();
  }
}

function updatesOf({ buffers, bufferSize }: PrivateRun): number {
  return buffers * bufferSize;
}

function nameOf(run: PrivateRun): string {
  return JSON.stringify(Object.entries(run).sort());
}
