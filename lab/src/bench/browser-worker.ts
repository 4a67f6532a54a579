/** Masks a vector in a Web Worker on request, and reports the time it took, and the time WebCrypto takes for only the keystream. */
import { applyMasksInPlaceAsync, plainVectorKernel, RING_32 } from '@basa/masking';
import { createWasmVectorKernel, createWebKeystream, webSuite } from '@basa/runtime/web';
import { EXPANSIONS, planOf } from './masked.ts';

const STRETCH_BYTES = 2 ** 19;
const AT_ONCE = 8;

const kernel = createWasmVectorKernel() ?? plainVectorKernel();
const tools = { suite: webSuite, kernel, keystream: createWebKeystream() };

addEventListener('message', async ({ data: dimension }: MessageEvent<number>) => {
  const vector = new Uint32Array(dimension);
  const plan = planOf(RING_32);
  const began = performance.now();
  await applyMasksInPlaceAsync(vector, plan, tools);
  const ms = performance.now() - began;
  postMessage({ ms, cipherMs: await encryptZeros(4 * dimension), first: [...vector.subarray(0, 4)] });
});

/** Encrypts as many bytes as all masks have, in the same pieces and with the same parallelism as masking. */
async function encryptZeros(bytes: number): Promise<number> {
  const key = await crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-CTR', false, ['encrypt']);
  const zeros = new Uint8Array(Math.min(bytes, STRETCH_BYTES));
  const parameters = { name: 'AES-CTR', counter: new Uint8Array(16), length: 128 };
  const began = performance.now();
  let left = EXPANSIONS * Math.ceil(bytes / STRETCH_BYTES);
  const encrypt = async (): Promise<void> => {
    while (left-- > 0) await crypto.subtle.encrypt(parameters, key, zeros);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, encrypt));
  return performance.now() - began;
}
