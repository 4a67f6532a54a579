/** One worker of `npm run lab -- prove councils`: a share of the schedules of one council, by its seed. */

import { serveWorker } from '@basa/runtime/node';
import { seededWords } from '@basa/virtual-time/simulation';
import { type CouncilVerdict, judgeCouncil } from '../oracle/council.ts';
import type { CouncilShape } from '../oracle/council-world.ts';

export interface CouncilTask {
  readonly shape: CouncilShape;
  readonly seed: number;
  readonly schedules: number;
}

serveWorker<CouncilTask, CouncilVerdict>(({ shape, seed, schedules }) =>
  judgeCouncil(shape, schedules, seededWords(seed)),
);
