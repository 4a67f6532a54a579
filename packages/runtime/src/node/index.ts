/** Cryptography, randomness and workers on Node. */
export { createWasmCombinationKernel, type WasmCombinationKernel } from '../combination-kernel.ts';
export { createTrainingKernel, type TrainingKernelOptions, type WasmTrainingKernel } from '../training-kernel.ts';
export { createWasmVectorKernel } from '../vector-kernel.ts';
export { nodeCrc32 } from './crc32.ts';
export { giveBack } from './give-back.ts';
export { createNodeKeystream } from './keystream.ts';
export { nodeRandomBytes } from './random.ts';
export { createNodeSigner } from './signer.ts';
export { nodeSuite } from './suite.ts';
export { type WorkerModule, workerModule } from './worker-module.ts';
export { createWorkerPool, serveWorker, type WorkerPool, type WorkerPoolOptions } from './worker-pool.ts';
