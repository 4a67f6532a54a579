/** A worker of `prove shots`. */
import { serveWorker } from '@basa/runtime/node';
import { runShotTask } from './shots-tasks.ts';

serveWorker(runShotTask);
