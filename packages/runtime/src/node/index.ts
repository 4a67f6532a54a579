/** The outside, on Node. */
export { createWasmVectorKernel } from '../vector-kernel.ts';
export { createNodeKeystream } from './keystream.ts';
export { nodeRandomBytes } from './random.ts';
export { createNodeSigner } from './signer.ts';
export { nodeSuite } from './suite.ts';
