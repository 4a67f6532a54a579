/** Cryptography and randomness in a browser. */
export { createWasmCombinationKernel, type WasmCombinationKernel } from '../combination-kernel.ts';
export { createTrainingKernel, type TrainingKernelOptions, type WasmTrainingKernel } from '../training-kernel.ts';
export { createWasmVectorKernel } from '../vector-kernel.ts';
export { createWebKeystream } from './keystream.ts';
export { createPlainKeystream } from './plain-keystream.ts';
export { webRandomBytes } from './random.ts';
export { createWebSigner } from './signer.ts';
export { webSuite, webSuiteWithKem } from './suite.ts';
export { createWebX25519 } from './x25519.ts';
