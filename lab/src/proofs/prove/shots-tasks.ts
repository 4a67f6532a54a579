/** The tasks of `prove shots`: schedules, courses or faults by their numbers. */
import { runShotFaults, type ShotFaults } from '../faults/one-shot.ts';
import type { Share, Tally } from '../oracle/exhaustive.ts';
import { runShotSchedules, type ShotAuthorities, type ShotTally } from '../oracle/one-shot/shot-schedule.ts';
import { type Courses, runEveryCourse } from '../oracle/one-shot/shot-situations.ts';

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
