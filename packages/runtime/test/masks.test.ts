/** The ports of @basa/masking as Node and as a browser fill them come to the same masks. */
import {
  type AsyncKeystream,
  applyMasksInPlace,
  applyMasksInPlaceAsync,
  FIELD,
  type MaskTools,
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

it('a vector longer than what WebCrypto is asked for at a time gets the same masks as in Node', async () => {
  const kernel = createWasmVectorKernel() ?? plainVectorKernel();
  for (const modulus of [FIELD, ring(20)]) {
    const terms = Array.from({ length: 12 }, (_, i) => ({
      seed: new Secret(nodeRandomBytes(32)),
      sign: i % 2 === 0 ? (1 as const) : (-1 as const),
    }));
    const plan = { modulus, salt: nodeRandomBytes(32), terms, firstWord: 32 };
    const [inNode, inBrowser] = [new Uint32Array(300_003), new Uint32Array(300_003)];
    applyMasksInPlace(inNode, plan, { suite: nodeSuite, kernel, keystream: nodeKeystream });
    await applyMasksInPlaceAsync(inBrowser, plan, { suite: webSuite, kernel, keystream: webKeystream });
    expect(Buffer.compare(bytesOf(inBrowser), bytesOf(inNode))).toBe(0);
  }
});

it('a keystream that fails ends the masking with its error, also where a later request fails first', async () => {
  let asked = 0;
  const keystream: AsyncKeystream = {
    read: async (request) => {
      const turn = asked++;
      if (turn === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      if (turn > 0) throw new Error(`request ${turn} failed`);
      return new Uint8Array(request.bytes);
    },
  };
  const terms = [1, 2, 3].map((byte) => ({ seed: new Secret(new Uint8Array(32).fill(byte)), sign: 1 as const }));
  const plan = { modulus: RING_32, salt: new Uint8Array(32), terms };
  const tools = { suite: webSuite, kernel: plainVectorKernel(64), keystream };
  await expect(applyMasksInPlaceAsync(new Uint32Array(100), plan, tools)).rejects.toThrow('request 1 failed');
});

function bytesOf(vector: Uint32Array): Uint8Array {
  return new Uint8Array(vector.buffer);
}
