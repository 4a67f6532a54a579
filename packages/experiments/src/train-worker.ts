/** Trains orders in a thread of its own; keeps the data of the last task. */
import { createKernelEngine, createReferenceEngine, createTrainer } from '@basa/learning';
import { createTrainingKernel, serveWorker } from '@basa/runtime/node';
import type { ProtocolName } from './cell.ts';
import type { LearnTask, TaskName } from './learning-tasks.ts';
import { openTask } from './learning-tasks.ts';
import { partiesOf } from './parties.ts';
import type { Trained, TrainOrder } from './train-order.ts';
import { trainOrder } from './train-order.ts';

export interface TrainJob extends Omit<TrainOrder, 'parties'> {
  readonly task: TaskName;
  readonly protocols: readonly ProtocolName[];
}

let last: { readonly name: string; readonly task: Promise<LearnTask> } | undefined;

serveWorker<TrainJob, Trained>(async ({ task: taskName, protocols, ...run }) => {
  const name = `${taskName} ${run.seed}`;
  if (last?.name !== name) last = { name, task: openTask(taskName, run.seed) };
  const task = await last.task;
  const kernel = createTrainingKernel();
  const trainer = createTrainer(kernel ? createKernelEngine(task.model, kernel) : createReferenceEngine(task.model));
  const parties = (users: number) =>
    protocols.map((protocol) => partiesOf(protocol, users)).filter((one) => one !== undefined);
  return trainOrder({ ...run, parties }, task, trainer);
});
