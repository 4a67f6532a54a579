/** Clients for tests: short waits, and stores that outlive a crash of their client. */

import { toHex } from '@basa/masking';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import { BasaClient, type DeviceStore, inMemoryStoreForTests, type NodeConnectOptions } from '../../src/node/index.ts';
import type { HttpServices } from './http-services.ts';
import { DIMENSION } from './test-world.ts';

const FAST_RETRY = { attempts: 4, firstWaitMs: 5, longestWaitMs: 200, timeoutMs: 2000 };

export function memoryStore(): DeviceStore {
  return inMemoryStoreForTests(createNodeSigner(nodeRandomBytes(32)));
}

export function optionsFor(services: HttpServices, more: Partial<NodeConnectOptions> = {}): NodeConnectOptions {
  return {
    server: services.serverUrl,
    authority: services.authorityUrl,
    task: toHex(services.world.task),
    authorityKey: toHex(services.world.authority.publicKey),
    identity: memoryStore(),
    token: [...services.tokens][0] ?? '',
    retry: FAST_RETRY,
    ...more,
    floor: {
      minimum: 2,
      noNoise: true,
      unsafeMixedVersions: services.world.policy.versions === 'unsafeMixed',
      ...more.floor,
    },
  };
}

export function connectTo(services: HttpServices, more: Partial<NodeConnectOptions> = {}): Promise<BasaClient> {
  return BasaClient.connect(optionsFor(services, more));
}

/** An update that differs for every number. */
export function deltaOf(number: number): Float32Array {
  return Float32Array.from({ length: DIMENSION }, (_, n) => Math.sin(n + 100 * number));
}
