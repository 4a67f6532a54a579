/** The cryptography and kernels with which uploads are examined and masks summed. */
import { plainVectorKernel } from '@basa/masking';
import { withKem } from '@basa/runtime/kem';
import { createNodeKeystream, createWasmVectorKernel, nodeSuite } from '@basa/runtime/node';

export const maskTools = {
  suite: withKem(nodeSuite),
  kernel: createWasmVectorKernel() ?? plainVectorKernel(),
  keystream: createNodeKeystream(),
};
