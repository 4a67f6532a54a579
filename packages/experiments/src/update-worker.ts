/** Trains single updates of a version that has many, for the thread that trains the order. */
import { serveWorker } from '@basa/runtime/node';
import type { TaskName } from './learning-tasks.ts';
import { openedTask } from './opened-task.ts';
import type { TrainedUpdate, UpdateRequest } from './train-update.ts';
import { trainUpdate } from './train-update.ts';

export interface UpdateJob extends UpdateRequest {
  readonly task: TaskName;
}

serveWorker<UpdateJob, TrainedUpdate>(async ({ task: name, ...request }) => {
  const { task, trainer } = await openedTask(name, request.seed);
  return trainUpdate(request, task, trainer);
});
