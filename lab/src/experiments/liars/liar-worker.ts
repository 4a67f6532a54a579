/** Trains runs with liars in a separate thread. */
import { serveWorker } from '@basa/runtime/node';
import { openedTask } from '../tasks/opened-task.ts';
import { type LiarRun, type LiarTrained, trainWithLiars } from './liar-run.ts';

serveWorker<LiarRun, LiarTrained>(async (run) => {
  const { task, trainer } = await openedTask(run.task, run.seed);
  return trainWithLiars(run, task, trainer);
});
