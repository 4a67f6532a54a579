/** Trains private runs in a separate thread. */
import { serveWorker } from '@basa/runtime/node';
import { openedTask } from '../tasks/opened-task.ts';
import { type PrivateRun, type PrivateTrained, trainPrivate } from './private-run.ts';

serveWorker<PrivateRun, PrivateTrained>(async (run) => {
  const { task, trainer } = await openedTask(run.task, run.seed);
  return trainPrivate(run, task, trainer);
});
