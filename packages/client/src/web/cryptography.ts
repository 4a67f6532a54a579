/** The cryptography of a browser: loaded when a client connects. Whoever imports it otherwise makes every page load it. */
export {
  createWasmVectorKernel,
  createWebKeystream,
  createWebSigner,
  createWebX25519,
  webRandomBytes,
  webSuite,
  webSuiteWithKem,
} from '@basa/runtime/web';
