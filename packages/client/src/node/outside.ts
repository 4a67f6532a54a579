/** The environment of a client on Node. */
import { plainVectorKernel } from '@basa/masking';
import { millis } from '@basa/protocol';
import { createNodeKeystream, createWasmVectorKernel, nodeCrc32, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { type Outside, sleep } from '../outside.ts';
import { maskVector } from './masks.ts';
import { createNodeTransport, type TlsOptions } from './transport.ts';

export function nodeOutside(tls?: TlsOptions): Outside {
  const kernel = createWasmVectorKernel() ?? plainVectorKernel();
  const tools = { suite: nodeSuite, kernel, keystream: createNodeKeystream() };
  return {
    suite: nodeSuite,
    suiteWithKem: async () => (await import('@basa/runtime/kem')).withKem(nodeSuite),
    randomBytes: nodeRandomBytes,
    transport: createNodeTransport(tls),
    now: () => millis(Date.now()),
    stopwatch: () => performance.now(),
    sleep,
    crc32: nodeCrc32,
    kernel,
    mask: (vector, plan, signal) => maskVector(vector, plan, tools, signal),
  };
}
