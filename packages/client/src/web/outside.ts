/** The outside, in a browser. */
import { applyMasksInPlaceAsync, plainVectorKernel } from '@basa/masking';
import { millis } from '@basa/protocol';
import type { Outside } from '../outside.ts';
import { sleep } from '../outside.ts';
import { createWebTransport } from './transport.ts';

export async function webOutside(): Promise<Outside> {
  const { createWasmVectorKernel, createWebKeystream, webRandomBytes, webSuite } = await import('./cryptography.ts');
  const kernel = createWasmVectorKernel() ?? plainVectorKernel();
  const tools = { suite: webSuite, kernel, keystream: createWebKeystream() };
  return {
    suite: webSuite,
    randomBytes: webRandomBytes,
    transport: createWebTransport(),
    now: () => millis(Date.now()),
    stopwatch: () => performance.now(),
    sleep,
    mask: (vector, plan) => applyMasksInPlaceAsync(vector, plan, tools),
  };
}
