/** The browser's runtime under the names of Node's: what runs on one can be run on the other. */
import { webSuiteWithKem } from '@basa/runtime/web';

export {
  createPlainKeystream as createNodeKeystream,
  createWasmVectorKernel,
  createWebSigner as createNodeSigner,
  webRandomBytes as nodeRandomBytes,
} from '@basa/runtime/web';
export const nodeSuite = await webSuiteWithKem();
