/** What a file of one's own exports: simulated, created as a task and trained on devices from the same lines. */

import type { Dataset, Samples } from '../data/samples.ts';
import type { Model } from '../model/model.ts';
import type { Trainer } from './trainer.ts';

/** Which device of how many. */
export interface Share {
  readonly device: number;
  readonly devices: number;
}

export interface OwnModel {
  readonly model: Model;
  /** How devices train, as far as it is not the default. */
  readonly training?: {
    readonly epochs?: number;
    readonly batchSize?: number;
    readonly learningRate?: number;
    /** softmaxCrossEntropy unless it says otherwise; binaryCrossEntropy or mse; any other name is a loss of your own trainer. */
    readonly loss?: string;
  };
  /** The examples of one device. A real device has its own, and need not look at its share. */
  data(share: Share): Samples | Promise<Samples>;
  /** What versions are evaluated on, at the server or in a simulation. Not private. */
  test?(): Dataset | Promise<Dataset>;
  /** What trains; the backends of this package where it is left out. */
  trainer?(): Trainer | Promise<Trainer>;
}
