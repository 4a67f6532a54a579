/** One layer of a network as two calls over addresses: forward and backward for the first `count` rows. */

import type { RandomStream } from '../numbers/random-stream.ts';
import type { Arena } from './arena.ts';
import type { TrainingKernel } from './training-kernel.ts';

export interface Stage {
  /** Applies dropout only if `random` is given. */
  forward(count: number, random?: RandomStream): void;
  backward(count: number): void;
}

/** The addresses of all parts of a network. */
export interface Layout {
  readonly kernel: TrainingKernel;
  readonly arena: Arena;
  readonly batchCapacity: number;
  readonly inputs: number;
  readonly parameters: number;
  readonly gradients: number;
  /** Scratch that stages use one after the other: packed weights, and one padded image. */
  readonly panels: number;
  readonly image: number;
}

/** The words before or after a layer; their gradient is undefined if no earlier layer needs it. */
export interface Place {
  readonly words: number;
  readonly value: number;
  readonly gradient: number | undefined;
}
