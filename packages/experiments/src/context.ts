/** What every study is given: a profile, measured costs, and a way to train. */
import type { Cell, TimedSchedule } from './cell.ts';
import { needsOf, scheduleCell } from './cell.ts';
import type { Costs } from './costs/costs.ts';
import type { CostNeeds } from './costs/needs.ts';
import type { CellResult, GridProgress } from './grid.ts';
import type { Outcome } from './outcome.ts';

export type Profile = 'smoke' | 'small' | 'full';

export interface Context {
  readonly profile: Profile;
  readonly costs: Costs;
  train(cells: readonly Cell[]): Promise<readonly CellResult[]>;
  /** For a study that trains otherwise than in cells. */
  readonly own: OwnTraining;
}

export interface OwnTraining {
  /** Where it may keep what is finished. */
  readonly folder: string;
  readonly workers: number;
  /** Only the first so many. */
  readonly seeds: number;
  readonly isWanted: (dataset: string) => boolean;
  readonly onlyFinished: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: GridProgress) => void;
}

export interface Study {
  readonly name: string;
  readonly title: string;
  /** What it must know the price of. */
  needs(profile: Profile): CostNeeds;
  run(context: Context): Promise<Outcome>;
}

export function needsOfCells(cells: readonly Cell[]): readonly CostNeeds[] {
  return cells.map(needsOf);
}

/** Timing alone: no data, no training; users have the examples of an average one. */
export function timeOnly(cell: Cell, costs: Costs, averageExamples = 200): TimedSchedule {
  return scheduleCell(cell, costs, () => averageExamples);
}
