/** Masks a vector in a Web Worker on request, and reports the time it took, and the time WebCrypto takes for only the keystream. */
import { applyMasksInPlaceAsync, type MaskPlan, plainVectorKernel, RING_32, Secret } from '@basa/masking';
import { createWasmVectorKernel, createWebKeystream, webSuite } from '@basa/runtime/web';

interface Asked {
  readonly d: number;
  readonly expansions: number;
}

const STRETCH_BYTES = 2 ** 19;
const AT_ONCE = 8;

const kernel = createWasmVectorKernel() ?? plainVectorKernel();
const tools = { suite: webSuite, kernel, keystream: createWebKeystream() };

addEventListener('message', async ({ data: { d, expansions } }: MessageEvent<Asked>) => {
  const vector = new Uint32Array(d);
  const terms = Array.from({ length: expansions }, (_, i) => ({
    seed: new Secret(new Uint8Array(32).fill(i + 1)),
    sign: i % 2 === 0 ? (1 as const) : (-1 as const),
  }));
  const plan: MaskPlan = { modulus: RING_32, salt: new Uint8Array(32), terms };
  const began = performance.now();
  await applyMasksInPlaceAsync(vector, plan, tools);
  const ms = performance.now() - began;
  postMessage({ ms, cipherMs: await encryptZeros(4 * d, expansions), first: [...vector.subarray(0, 4)] });
});

/** Encrypts streams of this many bytes, in the same pieces and with the same parallelism as masking. */
async function encryptZeros(bytes: number, streams: number): Promise<number> {
  const key = await crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-CTR', false, ['encrypt']);
  const zeros = new Uint8Array(Math.min(bytes, STRETCH_BYTES));
  const parameters = { name: 'AES-CTR', counter: new Uint8Array(16), length: 128 };
  const began = performance.now();
  let left = streams * Math.ceil(bytes / STRETCH_BYTES);
  const encrypt = async (): Promise<void> => {
    while (left-- > 0) await crypto.subtle.encrypt(parameters, key, zeros);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, encrypt));
  return performance.now() - began;
}
