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
  readonly own: TrainingRun;
}

/** The settings of a run that everything that trains must know. */
export interface TrainingRun {
  /** The folder for results and finished trainings. */
  readonly folder: string;
  readonly workers: number;
  /** Run only these datasets and only the first seeds. A later run can do the rest. */
  readonly datasets?: readonly string[] | undefined;
  readonly seeds?: number | undefined;
  /** Report the trainings that earlier runs finished, and train nothing. */
  readonly onlyFinished?: boolean;
  readonly signal: AbortSignal;
  onProgress(progress: GridProgress): void;
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
