/** Trains orders in a thread of its own. */
import { serveWorker } from '@basa/runtime/node';
import type { ProtocolName } from './cell.ts';
import type { TaskName } from './learning-tasks.ts';
import { openedTask } from './opened-task.ts';
import { partiesOf } from './parties.ts';
import type { Trained, TrainOrder } from './train-order.ts';
import { trainOrder } from './train-order.ts';

export interface TrainJob extends Omit<TrainOrder, 'parties'> {
  readonly task: TaskName;
  /** A folder of LEAF's FEMNIST, instead of the stand-in. */
  readonly leaf: string | undefined;
  readonly protocols: readonly ProtocolName[];
}

serveWorker<TrainJob, Trained>(async ({ task: name, leaf, protocols, ...order }) => {
  const { task, trainer } = await openedTask(name, order.seed, leaf);
  const parties = (users: number) =>
    protocols.map((protocol) => partiesOf(protocol, users)).filter((one) => one !== undefined);
  return trainOrder({ ...order, parties }, task, trainer);
});
