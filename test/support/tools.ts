/** What masking tests run on: Node's outside with either kernel, and a stream of words that repeats with its seed. */
import { createCipheriv } from 'node:crypto';
import type { Keystream, MaskTools, RandomWords } from '@basa/masking';
import { plainVectorKernel } from '@basa/masking';
import { createNodeKeystream, createNodeSigner, createWasmVectorKernel, nodeSuite } from '@basa/runtime/node';
import type { Environment, FederationOptions } from '@basa/simulator';
import { Federation } from '@basa/simulator';

export function wasmTools(): MaskTools<Keystream> {
  const kernel = createWasmVectorKernel();
  if (kernel === undefined) throw new Error('this Node has no wasm SIMD');
  return { suite: nodeSuite, kernel, keystream: createNodeKeystream() };
}

export function plainTools(blockWords?: number): MaskTools<Keystream> {
  return { suite: nodeSuite, kernel: plainVectorKernel(blockWords), keystream: createNodeKeystream() };
}

export function seededWords(seed: number): RandomWords {
  const key = Buffer.alloc(16);
  key.writeUInt32LE(seed);
  const cipher = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
  return (target) => {
    const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
    bytes.set(cipher.update(new Uint8Array(bytes.length)));
  };
}

/** A seed of 32 equal bytes: distinct for distinct numbers below 256. */
export function fixedSeed(byte: number): Uint8Array {
  return new Uint8Array(32).fill(byte);
}

/** The outside of a federation, on Node. */
export const nodeEnvironment: Environment = {
  tools: wasmTools(),
  createSigner: createNodeSigner,
  randomWords: seededWords,
};

/** A federation on Node. */
export function nodeFederation(options: FederationOptions): Federation {
  return new Federation(nodeEnvironment, options);
}
