/** The environment of a simulated federation, on Node. */
import { createCipheriv } from 'node:crypto';
import { type Keystream, type MaskTools, plainVectorKernel, type RandomWords } from '@basa/masking';
import { withKem } from '@basa/runtime/kem';
import { createNodeKeystream, createNodeSigner, createWasmVectorKernel, nodeSuite } from '@basa/runtime/node';
import type { Environment } from '../federation/world.ts';

/** Words that repeat with their seed. */
export function seededWords(seed: number): RandomWords {
  const key = Buffer.alloc(16);
  key.writeUInt32LE(seed);
  const cipher = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
  return (target) => {
    const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
    bytes.set(cipher.update(new Uint8Array(bytes.length)));
  };
}

const tools: MaskTools<Keystream> = {
  suite: withKem(nodeSuite),
  kernel: createWasmVectorKernel() ?? plainVectorKernel(),
  keystream: createNodeKeystream(),
};

export const nodeEnvironment: Environment = { tools, createSigner: createNodeSigner, randomWords: seededWords };
