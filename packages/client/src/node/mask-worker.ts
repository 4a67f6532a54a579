/** The thread that masks pieces of long vectors. */
import { applyMasksInPlace, plainVectorKernel, SEED_BYTES, Secret } from '@basa/masking';
import { createNodeKeystream, createWasmVectorKernel, nodeSuite, serveWorker } from '@basa/runtime/node';
import type { MaskTask } from './mask-task.ts';

const tools = {
  suite: nodeSuite,
  kernel: createWasmVectorKernel() ?? plainVectorKernel(),
  keystream: createNodeKeystream(),
};

serveWorker<MaskTask, Uint32Array<ArrayBuffer>>(
  ({ piece, signs, seeds, ...plan }) => {
    const seedOf = (n: number): Secret => new Secret(seeds.subarray(SEED_BYTES * n, SEED_BYTES * (n + 1)));
    applyMasksInPlace(piece, { ...plan, terms: signs.map((sign, n) => ({ sign, seed: seedOf(n) })) }, tools);
    seeds.fill(0);
    return piece;
  },
  ({ buffer }) => [buffer],
);
