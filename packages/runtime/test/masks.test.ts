/** The ports of @basa/masking as Node and as a browser fill them come to the same masks. */
import type { AsyncKeystream, MaskTools } from '@basa/masking';
import {
  applyMasksInPlace,
  applyMasksInPlaceAsync,
  FIELD,
  plainVectorKernel,
  RING_32,
  ring,
  Secret,
} from '@basa/masking';
import { expect, it } from 'vitest';
import { createNodeKeystream, createWasmVectorKernel, nodeRandomBytes, nodeSuite } from '../src/node/index.ts';
import { createWebKeystream, webSuite } from '../src/web/index.ts';

const suites = [nodeSuite, webSuite];
const nodeKeystream = createNodeKeystream();
const webKeystream = createWebKeystream();

it('a browser with wasm, one without, and Node mask to the same words in every group', async () => {
  for (const modulus of [RING_32, FIELD, ring(20)]) {
    const seeds = Array.from({ length: 6 }, () => nodeRandomBytes(32));
    const terms = seeds.map((seed, i) => ({ seed: new Secret(seed), sign: i < 3 ? (1 as const) : (-1 as const) }));
    const plan = { modulus, salt: nodeRandomBytes(32), terms };
    const results: Uint32Array[] = [];
    for (const kernel of [createWasmVectorKernel(), plainVectorKernel(256)]) {
      if (kernel === undefined) throw new Error('this Node has no wasm SIMD');
      for (const suite of suites) {
        const inNode = new Uint32Array(40_001).fill(7);
        applyMasksInPlace(inNode, plan, { suite, kernel, keystream: nodeKeystream });
        const inBrowser = new Uint32Array(40_001).fill(7);
        await applyMasksInPlaceAsync(inBrowser, plan, { suite, kernel, keystream: webKeystream });
        results.push(inNode, inBrowser);
      }
    }
    for (const result of results.slice(1))
      expect(Buffer.compare(bytesOf(result), bytesOf(results[0] as Uint32Array))).toBe(0);
  }
});

it('plans that wait for WebCrypto at the same time may share a kernel', async () => {
  const tools: MaskTools<AsyncKeystream> = { suite: webSuite, kernel: plainVectorKernel(64), keystream: webKeystream };
  const planOf = (byte: number) => ({
    modulus: FIELD,
    salt: new Uint8Array(32),
    terms: [{ seed: new Secret(new Uint8Array(32).fill(byte)), sign: 1 as const }],
  });
  const together = [1, 2, 3].map(() => new Uint32Array(1000));
  await Promise.all(together.map((vector, i) => applyMasksInPlaceAsync(vector, planOf(i), tools)));
  for (const [i, vector] of together.entries()) {
    const alone = new Uint32Array(1000);
    await applyMasksInPlaceAsync(alone, planOf(i), tools);
    expect(vector).toEqual(alone);
  }
});

function bytesOf(vector: Uint32Array): Uint8Array {
  return new Uint8Array(vector.buffer);
}
