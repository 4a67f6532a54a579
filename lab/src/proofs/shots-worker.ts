/** A worker of `prove shots`: schedules, courses or faults by their numbers. */
import { serveWorker } from '@basa/runtime/node';
import { runCourses, type Share } from '../oracle/courses.ts';
import { type FaultyRun, runFaults } from '../oracle/faults.ts';
import { runSchedules, type ShapeName, type Tally } from '../oracle/schedules.ts';

export type ShotTask =
  | { readonly kind: 'schedules'; readonly shape: ShapeName; readonly seed: number; readonly count: number }
  | { readonly kind: 'courses'; readonly steps: number; readonly share: Share }
  | { readonly kind: 'faults'; readonly seed: number; readonly count: number };

export type ShotAnswer = Tally | readonly FaultyRun[];

serveWorker<ShotTask, ShotAnswer>(async (task) => {
  if (task.kind === 'schedules') return runSchedules(task.shape, task);
  if (task.kind === 'courses') return runCourses(task.steps, task.share);
  const runs: FaultyRun[] = [];
  for (let n = 0; n < task.count; n++) runs.push(await runFaults(task.seed + n));
  return runs;
});
