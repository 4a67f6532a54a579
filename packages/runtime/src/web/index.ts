/** Cryptography and randomness in a browser. */
export { createWasmCombinationKernel, type WasmCombinationKernel } from '../combination-kernel.ts';
export { createTrainingKernel, type TrainingKernelOptions, type WasmTrainingKernel } from '../training-kernel.ts';
export { createWasmVectorKernel } from '../vector-kernel.ts';
export { createPlainKeystream, createWebKeystream } from './keystream.ts';
export { createWebSigner, createWebX25519, webRandomBytes, webSuite, webSuiteWithKem } from './suite.ts';
