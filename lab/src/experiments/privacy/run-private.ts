/** Private runs: each is trained once, saved in a file, and read by later runs. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createWorkerPool, workerModule } from '@basa/runtime/node';
import type { OwnTraining } from '../run/context.ts';
import type { PrivateRun, PrivateTrained } from './private-run.ts';

/** Inside the results folder. */
const FOLDER = 'private';

export interface FinishedRun {
  readonly run: PrivateRun;
  readonly trained: PrivateTrained;
}

/** Returns the finished runs. With `onlyFinished` some may be missing; otherwise all are there. */
export async function runPrivately(
  runs: readonly PrivateRun[],
  { folder, workers, onlyFinished, signal, onProgress }: OwnTraining,
): Promise<readonly FinishedRun[]> {
  const inside = join(folder, FOLDER);
  mkdirSync(inside, { recursive: true });
  const fileOf = (run: PrivateRun): string => join(inside, `${nameOf(run)}.json`);
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
    .map((run) => JSON.parse(readFileSync(fileOf(run), 'utf8')) as FinishedRun);
}

function nameOf(run: PrivateRun): string {
  return createHash('sha256')
    .update(JSON.stringify(Object.entries(run).sort()))
    .digest('hex')
    .slice(0, 32);
}
