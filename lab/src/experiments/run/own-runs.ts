/** Runs a study that does not train in cells: each training is done once, saved in a file, and read by later runs. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createWorkerPool, type workerModule } from '@basa/runtime/node';
import type { OwnTraining } from './context.ts';

export interface Finished<Run, Trained> {
  readonly run: Run;
  readonly trained: Trained;
}

export interface OwnRuns<Run> {
  /** The folder of finished runs, inside the results folder. */
  readonly kept: string;
  readonly worker: ReturnType<typeof workerModule>;
  /** The number of updates that a run trains. */
  readonly updatesOf: (run: Run) => number;
}

/** Returns the finished runs. With `onlyFinished` some may be missing; otherwise all are there. */
export async function runOwn<Run extends object, Trained>(
  runs: readonly Run[],
  { folder, workers, onlyFinished, signal, onProgress }: OwnTraining,
  { kept, worker, updatesOf }: OwnRuns<Run>,
): Promise<readonly Finished<Run, Trained>[]> {
  const inside = join(folder, kept);
  mkdirSync(inside, { recursive: true });
  const fileOf = (run: Run): string => join(inside, `${nameOf(run)}.json`);
  const open = onlyFinished ? [] : runs.filter((run) => !existsSync(fileOf(run)));
  const updates = (some: readonly Run[]): number => some.reduce((sum, run) => sum + updatesOf(run), 0);
  if (open.length > 0) {
    const pool = createWorkerPool<Run, Trained>({ ...worker, size: Math.min(workers, open.length) });
    const stop = (): void => void pool.close();
    signal.addEventListener('abort', stop, { once: true });
    let done = 0;
    try {
      onProgress({ done, all: updates(open) });
      await Promise.all(
        open.map(async (run) => {
          const trained = await pool.run(run);
          // Written under another name and renamed, so that an existing file is always complete.
          writeFileSync(`${fileOf(run)}.part`, `${JSON.stringify({ run, trained })}\n`);
          renameSync(`${fileOf(run)}.part`, fileOf(run));
          done += updates([run]);
          onProgress({ done, all: updates(open) });
        }),
      );
    } finally {
      signal.removeEventListener('abort', stop);
      await pool.close();
    }
  }
  return runs
    .filter((run) => existsSync(fileOf(run)))
    .map((run) => JSON.parse(readFileSync(fileOf(run), 'utf8')) as Finished<Run, Trained>);
}

function nameOf(run: object): string {
  return createHash('sha256')
    .update(JSON.stringify(Object.entries(run).sort()))
    .digest('hex')
    .slice(0, 32);
}
