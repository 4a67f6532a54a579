/** Masks a vector in a Web Worker each time it is asked to, and says how long it took. */
import type { MaskPlan } from '@basa/masking';
import { applyMasksInPlaceAsync, plainVectorKernel, RING_32, Secret } from '@basa/masking';
import { createWasmVectorKernel, createWebKeystream, webSuite } from '@basa/runtime/web';

interface Asked {
  readonly d: number;
  readonly expansions: number;
}

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
  postMessage({ ms: performance.now() - began, first: [...vector.subarray(0, 4)] });
});
