/** Trains orders in a thread of its own; versions of many updates with the help of others. */
import { createWorkerPool, serveWorker, workerModule } from '@basa/runtime/node';
import type { ProtocolName } from './cell.ts';
import type { TaskName } from './learning-tasks.ts';
import { openedTask } from './opened-task.ts';
import { partiesOf } from './parties.ts';
import type { Trained, TrainOrder } from './train-order.ts';
import { trainOrder } from './train-order.ts';
import type { TrainedUpdate } from './train-update.ts';
import type { UpdateJob } from './update-worker.ts';

export interface TrainJob extends Omit<TrainOrder, 'parties'> {
  readonly task: TaskName;
  readonly protocols: readonly ProtocolName[];
  /** Threads that train its updates; with one, this one does. */
  readonly threads: number;
}

serveWorker<TrainJob, Trained>(async ({ task: name, protocols, threads, ...order }) => {
  const { task, trainer } = await openedTask(name, order.seed);
  const parties = (users: number) =>
    protocols.map((protocol) => partiesOf(protocol, users)).filter((one) => one !== undefined);
  const run = { ...order, parties };
  if (threads === 1) return trainOrder(run, task, trainer);
  const pool = createWorkerPool<UpdateJob, TrainedUpdate>({
    ...workerModule(import.meta.url, './update-worker'),
    size: threads,
  });
  try {
    return await trainOrder(run, task, trainer, (request) => pool.run({ ...request, task: name }));
  } finally {
    await pool.close();
  }
});
