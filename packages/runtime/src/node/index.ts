/** Cryptography, randomness and workers on Node. */
export { createWasmCombinationKernel, type WasmCombinationKernel } from '../combination-kernel.ts';
export { createTrainingKernel, type TrainingKernelOptions, type WasmTrainingKernel } from '../training-kernel.ts';
export { createWasmVectorKernel } from '../vector-kernel.ts';
export { createNodeKeystream, giveBack } from './keystream.ts';
export { createNodeSigner, nodeCrc32, nodeRandomBytes, nodeSuite } from './suite.ts';
export {
  createWorkerPool,
  serveWorker,
  type WorkerModule,
  type WorkerPool,
  type WorkerPoolOptions,
  workerModule,
} from './worker-pool.ts';
