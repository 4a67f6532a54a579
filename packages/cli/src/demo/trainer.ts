/** The demo's trainer: logistic regression on MNIST, with the wasm engine where there is one. */

import type { TrainerOptions } from '@basa/client/node';
import { trainerFor } from '@basa/client/node';
import type { Trainer } from '@basa/learning';
import { logisticRegression } from '@basa/learning';

export function demoTrainer(options?: TrainerOptions): Promise<Trainer> {
  return trainerFor(logisticRegression(), options);
}
