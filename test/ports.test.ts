/** What runtime provides is what the pure packages ask for: checked by the compiler here, and by use below. */
import type { CombinationKernel } from '@basa/baselines';
import type { TrainingKernel } from '@basa/learning';
import type { AsyncKeystream, Keystream, MaskTools, RandomBytes, Suite, VectorKernel } from '@basa/masking';
import {
  applyMasksInPlace,
  applyMasksInPlaceAsync,
  FIELD,
  plainVectorKernel,
  RING_32,
  ring,
  Secret,
} from '@basa/masking';
import {
  createNodeKeystream,
  createTrainingKernel,
  createWasmCombinationKernel,
  createWasmVectorKernel,
  nodeRandomBytes,
  nodeSuite,
} from '@basa/runtime/node';
import { createWebKeystream, webRandomBytes, webSuite } from '@basa/runtime/web';
import { expect, it } from 'vitest';

const suites: Suite[] = [nodeSuite, webSuite];
const randoms: RandomBytes[] = [nodeRandomBytes, webRandomBytes];
const nodeKeystream: Keystream = createNodeKeystream();
const webKeystream: AsyncKeystream = createWebKeystream();
const wasmKernel: VectorKernel | undefined = createWasmVectorKernel();
const trainingKernel: TrainingKernel | undefined = createTrainingKernel();
const combinationKernel: CombinationKernel | undefined = createWasmCombinationKernel();
// The other way round: a suite of the port is good enough for runtime's own declaration.
nodeSuite satisfies typeof webSuite satisfies Suite;
({}) as Suite satisfies typeof nodeSuite;

it('this Node has the training kernel, and every function of the port', () => {
  const functions = Object.values(trainingKernel ?? {}).filter((value) => typeof value === 'function');
  expect(functions).toHaveLength(25);
});

it('this Node has the combination kernel', () => {
  expect(combinationKernel?.order).toBe(2 ** 32 - 5);
});

it('a browser with wasm, one without, and Node mask to the same words in every group', async () => {
  const [random = nodeRandomBytes] = randoms;
  for (const modulus of [RING_32, FIELD, ring(20)]) {
    const seeds = Array.from({ length: 6 }, () => random(32));
    const terms = seeds.map((seed, i) => ({ seed: new Secret(seed), sign: i < 3 ? (1 as const) : (-1 as const) }));
    const plan = { modulus, salt: random(32), terms };
    const results: Uint32Array[] = [];
    for (const kernel of [wasmKernel ?? plainVectorKernel(), plainVectorKernel(256)]) {
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
