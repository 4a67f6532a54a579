/** One update: the trip of a user, trained from the model it fetched. */
import { randomStream, type Trainer, type TrainResult } from '@basa/learning';
import type { LearnTask } from '../tasks/learning-tasks.ts';

export interface UpdateRequest {
  readonly seed: number;
  readonly user: number;
  readonly trip: number;
  readonly start: Float32Array;
}

export type TrainedUpdate = TrainResult;

export function trainUpdate(
  { seed, user, trip, start }: UpdateRequest,
  task: LearnTask,
  trainer: Trainer,
): TrainedUpdate {
  const samples = task.samplesOf(user);
  return trainer.train({
    start,
    samples,
    epochs: task.epochs ?? 1,
    batchSize: task.batchSize,
    learningRate: task.learningRate,
    seed: randomStream(seed, 'batch', user, trip).u32(),
  });
}
