/** The outside, in a browser. */
export { createWasmVectorKernel } from '../vector-kernel.ts';
export { createWebKeystream } from './keystream.ts';
export { webRandomBytes } from './random.ts';
export { webSuite } from './suite.ts';
