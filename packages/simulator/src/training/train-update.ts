/** One update: the trip of a user, trained from the model it fetched. */
import { type Model, randomStream, type Samples, type Trainer, type TrainResult } from '@basa/learning';

export interface LearnTask {
  readonly model: Model;
  readonly users: number;
  /** Passes of a trip over the examples of its user; 1 by default. */
  readonly epochs?: number;
  readonly batchSize: number;
  readonly learningRate: number;
  readonly target: number;
  readonly evaluateEvery: number;
  /** The number of examples of a user. */
  countOf(user: number): number;
  /** Returns the examples of a user. Synthetic ones are made on demand, only the first `most`. */
  samplesOf(user: number, most?: number): Samples;
  /** A fixed part of the test set, and all of it. */
  readonly quickTest: Samples;
  readonly wholeTest: Samples;
  /** The part of it that is looked at in the end. */
  readonly partTest?: Samples;
  /** A description of the partition. */
  readonly about: string;
}

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
