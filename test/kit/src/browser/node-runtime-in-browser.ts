/** The browser's runtime under the names of Node's, so that programs for one run on the other. */
export {
  createPlainKeystream as createNodeKeystream,
  createWasmCombinationKernel,
  createWasmVectorKernel,
  createWebSigner as createNodeSigner,
  webRandomBytes as nodeRandomBytes,
  webSuite as nodeSuite,
} from '@basa/runtime/web';
