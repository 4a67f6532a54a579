/** The thread that masks pieces of long vectors. */
import { applyMasksInPlace, type MaskTerm, plainVectorKernel, SEED_BYTES, Secret } from '@basa/masking';
import { createNodeKeystream, createWasmVectorKernel, nodeSuite, serveWorker } from '@basa/runtime/node';
import type { MaskTask } from './masks.ts';

const tools = {
  suite: nodeSuite,
  kernel: createWasmVectorKernel() ?? plainVectorKernel(),
  keystream: createNodeKeystream(),
};

serveWorker<MaskTask, Uint32Array<ArrayBuffer>>(
  ({ piece, signs, salts, seeds, ...plan }) => {
    const seedOf = (n: number): Secret => new Secret(seeds.subarray(SEED_BYTES * n, SEED_BYTES * (n + 1)));
    const terms = signs.map((sign, n) => withSalt({ sign, seed: seedOf(n) }, salts[n]));
    applyMasksInPlace(piece, { ...plan, terms }, tools);
    seeds.fill(0);
    return piece;
  },
  ({ buffer }) => [buffer],
);

function withSalt(term: MaskTerm, salt: Uint8Array | undefined): MaskTerm {
  return salt === undefined ? term : { ...term, salt };
}
