/** The exports of a user's own model file: the same lines are simulated, created as a task and trained on devices. */

import type { Dataset, Samples } from '../data/samples.ts';
import type { Model } from '../model/model.ts';
import type { Trainer } from './trainer.ts';

/** The number of this device, and the total number of devices. */
export interface Share {
  readonly device: number;
  readonly devices: number;
}

export interface OwnModel {
  readonly model: Model;
  /** The training settings of devices that differ from the default. */
  readonly training?: {
    readonly epochs?: number;
    readonly batchSize?: number;
    readonly learningRate?: number;
    /** softmaxCrossEntropy by default, or binaryCrossEntropy or mse; any other name is a loss of your own trainer. */
    readonly loss?: string;
  };
  /** C: updates are shortened to this L2 norm. `basa simulate` measures it and writes it into the file. */
  readonly clip?: number;
  /** The examples of one device. A real device has its own, and need not look at its share. */
  data(share: Share): Samples | Promise<Samples>;
  /** The examples on which versions are evaluated, at the server or in a simulation. They are not private. */
  test?(): Dataset | Promise<Dataset>;
  /** The trainer; the backends of this package by default. */
  trainer?(): Trainer | Promise<Trainer>;
}
