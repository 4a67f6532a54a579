/** A worker of the training benchmark: runs steps for a while, and reports their number. */
import { serveWorker } from '@basa/runtime/node';
import { MODELS, type ModelName, trainingStep } from './training-setup.ts';

export interface StepTask {
  readonly model: ModelName;
  readonly forMs: number;
}

const steps = new Map<ModelName, () => void>();

serveWorker<StepTask, number>(({ model, forMs }) => {
  const step = steps.get(model) ?? trainingStep(MODELS[model]);
  if (step === undefined) throw new Error('no wasm SIMD');
  steps.set(model, step);
  step();
  const start = performance.now();
  let count = 0;
  while (performance.now() - start < forMs || count === 0) {
    step();
    count++;
  }
  return (1000 * count) / (performance.now() - start);
});
