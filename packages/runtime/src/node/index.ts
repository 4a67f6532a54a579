/** Cryptography, randomness and workers on Node. */
export type { WasmCombinationKernel } from '../combination-kernel.ts';
export { createWasmCombinationKernel } from '../combination-kernel.ts';
export type { TrainingKernelOptions, WasmTrainingKernel } from '../training-kernel.ts';
export { createTrainingKernel } from '../training-kernel.ts';
export { createWasmVectorKernel } from '../vector-kernel.ts';
export { giveBack } from './give-back.ts';
export { createNodeKeystream } from './keystream.ts';
export { nodeRandomBytes } from './random.ts';
export { createNodeSigner } from './signer.ts';
export { nodeSuite } from './suite.ts';
export type { WorkerModule } from './worker-module.ts';
export { workerModule } from './worker-module.ts';
export type { WorkerPool, WorkerPoolOptions } from './worker-pool.ts';
export { createWorkerPool, serveWorker } from './worker-pool.ts';
