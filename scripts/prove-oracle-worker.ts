/** One worker of `npm run prove -- oracle`: a share of the situations or of the schedules, and what it came to. */
import { serveWorker } from '@basa/runtime/node';
import type { ScheduleTally, Share, Tally } from '@basa/simulator';
import { runEverySituation, runSchedules } from '@basa/simulator';

export type OracleTask =
  | { readonly kind: 'situations'; readonly bufferSize: number; readonly share: Share }
  | { readonly kind: 'schedules'; readonly seed: number; readonly count: number };

export type OracleAnswer = Tally | ScheduleTally;

serveWorker<OracleTask, OracleAnswer>((task) =>
  task.kind === 'situations'
    ? runEverySituation(task.bufferSize, { share: task.share })
    : runSchedules(task.seed, task.count),
);
