/** Trains orders in a separate thread. */
import { serveWorker } from '@basa/runtime/node';
import { type ProtocolName, partiesOf, type Trained, type TrainOrder, trainOrder } from '@basa/simulator/virtual-time';
import type { TaskName, TaskSource } from '../tasks/learning-tasks.ts';
import { openedTask } from '../tasks/opened-task.ts';

export interface TrainJob extends Omit<TrainOrder, 'parties'>, TaskSource {
  readonly task: TaskName;
  /** Instead of the task's. */
  readonly learningRate: number | undefined;
  readonly protocols: readonly ProtocolName[];
}

serveWorker<TrainJob, Trained>(async ({ task: name, leaf, shelf, learningRate, protocols, ...order }) => {
  const { task: opened, trainer } = await openedTask(name, order.seed, { leaf, shelf });
  const task = learningRate === undefined ? opened : { ...opened, learningRate };
  const parties = (users: number) =>
    protocols.map((protocol) => partiesOf(protocol, users)).filter((one) => one !== undefined);
  return trainOrder({ ...order, parties }, task, trainer);
});
