/** The cryptography of a browser, loaded when a client connects. A static import of it would make every page load it. */
export {
  createWasmVectorKernel,
  createWebKeystream,
  createWebSigner,
  createWebX25519,
  webRandomBytes,
  webSuite,
  webSuiteWithKem,
} from '@basa/runtime/web';
