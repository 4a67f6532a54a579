/** The port between the trainer's loop and the arithmetic: one batch at a time, parameters kept inside. */

import type { Model } from '../model/model.ts';
import type { RandomStream } from '../numbers/random-stream.ts';
import type { LossName } from './losses.ts';

/** One step of descent: v = momentum v + (clipped gradient + weightDecay w); w -= learningRate v (PyTorch's SGD). */
export interface Descent {
  readonly learningRate: number;
  readonly momentum: number;
  readonly weightDecay: number;
  /** Gradients longer than this (L2, over all parameters) are shortened to it. */
  readonly clipNorm?: number;
}

export interface BackendOptions {
  /** The largest number of examples that run together; 32 by default. A larger batch is learned in parts. */
  readonly batchCapacity?: number;
  /** The loss that is minimised; softmax cross-entropy by default. */
  readonly loss?: LossName;
}

/** Of a batch that is larger than the capacity. */
interface BatchPart {
  /** The examples of the whole batch. */
  readonly batch?: number;
  /** Adds to the gradients of the parts before. */
  readonly adds?: boolean;
}

/**
 * Not re-entrant, one per thread. A batch is written to `inputs` and `labels`, then run; results stay until the next.
 */
export interface Backend {
  readonly name: string;
  readonly model: Model;
  readonly loss: LossName;
  readonly batchCapacity: number;
  readonly inputs: Float32Array | Float64Array;
  /** Classes or any numbers, depending on the loss. */
  readonly labels: Int32Array | Float32Array;
  /** One row of outputs for each example of the batch, after `run`. */
  readonly outputs: Float32Array | Float64Array;
  setParameters(parameters: Float32Array | Float64Array): void;
  readParameters(target: Float32Array | Float64Array): void;
  readGradients(target: Float32Array | Float64Array): void;
  /** Forgets momentum. */
  rest(): void;
  /** Forward without dropout; returns the sum of losses. */
  run(count: number): number;
  /** Forward with dropout drawn from `random`, and backward; returns the sum of losses, gradients are of the mean of the batch. */
  learn(count: number, random: RandomStream, part?: BatchPart): number;
  descend(descent: Descent): void;
}
