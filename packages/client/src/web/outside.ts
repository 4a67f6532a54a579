/** The environment of a client in a browser. */
import { applyMasksInPlaceAsync, plainVectorKernel } from '@basa/masking';
import { millis } from '@basa/protocol';
import { type Outside, sleep } from '../outside.ts';
import { createWebTransport } from './transport.ts';

export async function webOutside(): Promise<Outside> {
  const { createWasmVectorKernel, createWebKeystream, createWebX25519, webRandomBytes, webSuite, webSuiteWithKem } =
    await import('./cryptography.ts');
  const kernel = createWasmVectorKernel() ?? plainVectorKernel();
  const x25519 = await createWebX25519();
  const tools = { suite: webSuite, kernel, keystream: createWebKeystream() };
  return {
    suite: webSuite,
    suiteWithKem: webSuiteWithKem,
    randomBytes: webRandomBytes,
    transport: createWebTransport(),
    ...(x25519 && { x25519 }),
    now: () => millis(Date.now()),
    stopwatch: () => performance.now(),
    sleep,
    kernel,
    mask: (vector, plan) => applyMasksInPlaceAsync(vector, plan, tools),
  };
}
