/** The threads that open sums and evaluate models. */
import { createWorkerPool, type WorkerPool, workerModule } from '@basa/runtime/node';
import type { WorkerOptions, WorkResult, WorkTask } from './work/tasks.ts';

export function startWorkers(size: number, workerData: WorkerOptions): WorkerPool<WorkTask, WorkResult> {
  return createWorkerPool<WorkTask, WorkResult>({
    ...workerModule(import.meta.url, './work/worker'),
    size,
    workerData,
    isLazy: true, // a server that starts again must answer soon, and its first sum may be hours away
  });
}
