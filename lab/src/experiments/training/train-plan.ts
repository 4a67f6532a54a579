/** Plans the trainings of cells: one job for each order of updates, shared by all cells with that order. */

import { isSynchronous, LEVEL, orderDigest, type TimedSchedule } from '@basa/simulator/virtual-time';
import type { Cell } from '../tasks/tasks.ts';
import type { TrainJob } from './train-worker.ts';

export interface NamedJob {
  readonly name: string;
  readonly job: TrainJob;
  /** The largest number of updates that it trains. */
  readonly updates: number;
  /** Smaller is more important. */
  readonly rank: number;
}

/** Evaluations whose mean decides whether the target is reached: one lucky look does not. */
const EVALUATIONS = 3;

export function jobOf(cell: Cell, { order }: TimedSchedule, partiesEvery: number, rank: number): NamedJob {
  const { task, seed, protocol } = cell;
  const step = isSynchronous(cell) ? task.step.rounds : task.step.buffers;
  const level = protocol === 'no SA' ? undefined : LEVEL;
  const { target, learn } = task;
  const isWhole = task.cap.seconds !== undefined;
  const { rate, momentum, damping = 'none' } = step;
  return {
    name: orderDigest(
      order,
      ...[learn, seed, target, rate, momentum, damping, level ?? 'floats', task.leaf ?? '', EVALUATIONS],
      task.learningRate ?? '',
      ...(isWhole ? ['to the end'] : []),
    ),
    updates: order.reduce((sum, version) => sum + version.length, 0),
    rank,
    job: {
      order,
      seed,
      step,
      level,
      target,
      evaluations: EVALUATIONS,
      ...(isWhole && { isWhole }),
      task: learn,
      leaf: task.leaf,
      learningRate: task.learningRate,
      protocols: protocol === 'no SA' ? [] : [protocol],
      partiesEvery,
    },
  };
}

/** One training for each name, with the parties of every protocol that has it; the most important first, data together. */
export function mergeJobs(jobs: readonly NamedJob[]): readonly NamedJob[] {
  const merged = new Map<string, NamedJob>();
  for (const named of jobs) {
    const { job, rank } = merged.get(named.name) ?? named;
    const protocols = [...new Set([...job.protocols, ...named.job.protocols])];
    merged.set(named.name, { ...named, rank: Math.min(rank, named.rank), job: { ...job, protocols } });
  }
  return [...merged.values()].sort(
    (a, b) => a.rank - b.rank || a.job.task.localeCompare(b.job.task) || b.updates - a.updates,
  );
}
