/** Clients for tests: short waits, and stores that outlive a crash of their client. */

import { toHex } from '@basa/masking';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import { BasaClient, type DeviceStore, inMemoryStoreForTests, type NodeConnectOptions } from '../../src/node/index.ts';
import { DIMENSION, type Services } from './services.ts';

const FAST_RETRY = { attempts: 4, firstWaitMs: 5, longestWaitMs: 200, timeoutMs: 2000 };

export function memoryStore(): DeviceStore {
  return inMemoryStoreForTests(createNodeSigner(nodeRandomBytes(32)));
}

export function optionsFor(services: Services, more: Partial<NodeConnectOptions> = {}): NodeConnectOptions {
  return {
    server: services.serverUrl,
    authority: services.authorityUrl,
    task: services.world.task,
    authorityKey: toHex(services.authorityKey),
    identity: memoryStore(),
    token: services.tokens.pop() ?? '',
    retry: FAST_RETRY,
    ...more,
    floor: {
      minimum: 2,
      noNoise: true,
      unsafeMixedVersions: services.policy.versions === 'unsafeMixed',
      ...more.floor,
    },
  };
}

export function connectTo(services: Services, more: Partial<NodeConnectOptions> = {}): Promise<BasaClient> {
  return BasaClient.connect(optionsFor(services, more));
}

/** An update that differs for every number. */
export function deltaOf(number: number): Float32Array {
  return Float32Array.from({ length: DIMENSION }, (_, n) => Math.sin(n + 100 * number));
}
