/** The demo's trainer: logistic regression on MNIST, with the wasm engine if it is available. */

import { type TrainerOptions, trainerFor } from '@basa/client/node';
import { logisticRegression, type Trainer } from '@basa/learning';

export function demoTrainer(options?: TrainerOptions): Promise<Trainer> {
  return trainerFor(logisticRegression(), options);
}
