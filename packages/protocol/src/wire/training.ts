/** The training settings of a task's devices: part of its policy, so that no server can tell one device to train differently. */
import { checked, type Field, oneOf, positive, record, u16 } from './fields.ts';

/**
 * The loss that is minimised. `own`: a function that the application knows, and the policy does not name. The wire has
 * the position in this list.
 */
export const TASK_LOSSES = ['own', 'softmaxCrossEntropy', 'mse', 'binaryCrossEntropy'] as const;
export type Loss = (typeof TASK_LOSSES)[number];

export interface TaskTraining {
  /** Whole passes over the device's examples. */
  readonly epochs: number;
  readonly batchSize: number;
  readonly learningRate: number;
  readonly loss: Loss;
}

export const DEFAULT_TRAINING: TaskTraining = {
  epochs: 1,
  batchSize: 10,
  learningRate: 0.1,
  loss: 'softmaxCrossEntropy',
};

const atLeastOne = checked(u16, (value) => (value >= 1 ? undefined : 'must be at least 1'));

export const trainingField: Field<TaskTraining> = record({
  epochs: atLeastOne,
  batchSize: atLeastOne,
  learningRate: positive,
  loss: oneOf(TASK_LOSSES),
});
