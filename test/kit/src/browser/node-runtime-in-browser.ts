/** The browser's runtime under the names of Node's: what runs on one can be run on the other. */
export {
  createPlainKeystream as createNodeKeystream,
  createWasmVectorKernel,
  createWebSigner as createNodeSigner,
  webRandomBytes as nodeRandomBytes,
  webSuite as nodeSuite,
} from '@basa/runtime/web';
