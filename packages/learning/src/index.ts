/** Trainers, models, data partitions and server steps of buffered asynchronous federated learning. */

export { generator } from './generator.ts';
export { createKernelEngine } from './kernel-engine.ts';
export * from './layers.ts';
export { defineModel } from './model.ts';
export * from './models.ts';
export { createReferenceEngine } from './reference-engine.ts';
export { allSamples } from './samples.ts';
export { createTrainer } from './trainer.ts';
