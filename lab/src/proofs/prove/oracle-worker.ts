/** One worker of `npm run lab -- prove oracle`: a share of the situations or of the schedules, and its result. */
import { serveWorker } from '@basa/runtime/node';
import { runEverySituation, type Share, type Tally } from '../oracle/exhaustive.ts';
import { runSchedules, type ScheduleTally } from '../oracle/many.ts';
import type { OracleEngine } from '../world/symbolic-federation.ts';

export type OracleTask =
  | {
      readonly kind: 'situations';
      readonly bufferSize: number;
      readonly engine: OracleEngine;
      readonly share: Share;
    }
  | { readonly kind: 'schedules'; readonly seed: number; readonly count: number };

export type OracleAnswer = Tally | ScheduleTally;

serveWorker<OracleTask, OracleAnswer>((task) =>
  task.kind === 'situations'
    ? runEverySituation(task.bufferSize, task.engine, { share: task.share })
    : runSchedules(task.seed, task.count),
);
