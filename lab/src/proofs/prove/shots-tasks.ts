/** The tasks of `prove shots`: schedules, courses or faults by their numbers. */

import { type Courses, runEveryCourse, type Share, type Tally } from '../oracle/shot-courses.ts';
import { runShotFaults, type ShotFaults } from '../oracle/shot-faults.ts';
import { runShotSchedules, type ShotAuthorities, type ShotTally } from '../oracle/shot-schedule.ts';

export type ShotTask =
  | {
      readonly kind: 'schedules';
      readonly seed: number;
      readonly count: number;
      readonly authorities: ShotAuthorities | undefined;
    }
  | ({ readonly kind: 'courses'; readonly share: Share } & Courses)
  | { readonly kind: 'faults'; readonly seed: number; readonly count: number };

export type ShotAnswer = ShotTally | Tally | readonly ShotFaults[];

export function runShotTask(task: ShotTask): ShotAnswer {
  if (task.kind === 'schedules') return runShotSchedules(task.seed, task.count, task);
  if (task.kind === 'courses') return runEveryCourse(task, task.share);
  return Array.from({ length: task.count }, (_, n) => runShotFaults(task.seed + n));
}
