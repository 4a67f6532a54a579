/** Many private runs: each trained once, kept in a file, and taken from there by a later run. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createWorkerPool, workerModule } from '@basa/runtime/node';
import type { OwnTraining } from '../run/context.ts';
import type { PrivateRun, PrivateTrained } from './private-run.ts';

export interface FinishedRun {
  readonly run: PrivateRun;
  readonly trained: PrivateTrained;
}

/** Those that are finished: all of them, but where `onlyFinished` leaves some out. */
export async function runPrivately(
  runs: readonly PrivateRun[],
  { folder, workers, onlyFinished, signal, onProgress }: OwnTraining,
): Promise<readonly FinishedRun[]> {
  const kept = join(folder, 'private');
  mkdirSync(kept, { recursive: true });
  const fileOf = (run: PrivateRun): string => join(kept, `${nameOf(run)}.json`);
  const open = onlyFinished ? [] : runs.filter((run) => !existsSync(fileOf(run)));
  const updates = (some: readonly PrivateRun[]): number =>
    some.reduce((sum, { buffers, bufferSize }) => sum + buffers * bufferSize, 0);
  if (open.length > 0) {
    const pool = createWorkerPool<PrivateRun, PrivateTrained>({
      ...workerModule(import.meta.url, './private-worker'),
      size: Math.min(workers, open.length),
    });
    const stop = (): void => void pool.close();
    signal.addEventListener('abort', stop, { once: true });
    let done = 0;
    try {
      onProgress({ done, all: updates(open) });
      await Promise.all(
        open.map(async (run) => {
          const trained = await pool.run(run);
          // Under another name first: a file that is there is whole.
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
    .map((run) => JSON.parse(readFileSync(fileOf(run), 'utf8')) as FinishedRun);
}

function nameOf(run: PrivateRun): string {
  return createHash('sha256')
    .update(JSON.stringify(Object.entries(run).sort()))
    .digest('hex')
    .slice(0, 32);
}
