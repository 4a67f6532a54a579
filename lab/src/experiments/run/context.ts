/** The inputs of every study: a profile, measured costs and trained cells. */
import { allNeeds, type CostNeeds, type Costs, needsOf } from '@basa/simulator/virtual-time';
import type { Outcome } from '../report/outcome.ts';
import type { Cell } from '../tasks/tasks.ts';
import type { GridProgress } from '../training/train-queue.ts';
import type { CellResult } from './grid.ts';

export type Profile = 'smoke' | 'small' | 'full';

export interface Context {
  readonly profile: Profile;
  readonly costs: Costs;
  /** Returns the results of those cells of the study that are trained. */
  results(cells: readonly Cell[]): Promise<readonly CellResult[]>;
  /** For a study that does not train in cells. */
  readonly own: OwnTraining;
}

export interface OwnTraining {
  /** The folder for finished results. */
  readonly folder: string;
  readonly workers: number;
  /** The number of seeds to use, from the first on. */
  readonly seeds: number;
  readonly isWanted: (dataset: string) => boolean;
  readonly onlyFinished: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: GridProgress) => void;
}

export interface Study {
  readonly name: string;
  readonly title: string;
  /** The cells that the study trains. Empty if it only simulates time. */
  cells(profile: Profile): readonly Cell[];
  /** The operations whose measured cost it needs. */
  needs(profile: Profile): CostNeeds;
  run(context: Context): Promise<Outcome>;
}

/** For studies that train nothing. */
export const NO_CELLS = (): readonly Cell[] => [];

export function needsOfCells(cells: readonly Cell[]): CostNeeds {
  return allNeeds(cells.map(needsOf));
}
