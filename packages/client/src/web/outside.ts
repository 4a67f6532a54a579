/** The outside, in a browser. */
import { applyMasksInPlaceAsync, plainVectorKernel } from '@basa/masking';
import { millis } from '@basa/protocol';
import { createWasmVectorKernel, createWebKeystream, webRandomBytes, webSuite } from '@basa/runtime/web';
import type { Outside } from '../outside.ts';
import { sleep } from '../outside.ts';
import { createWebTransport } from './transport.ts';

export function webOutside(): Outside {
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
