/** The runtimes that are held to the suites, as far as they run in Node. */
import { createMclGroup } from '@basa/abe';
import { createNobleGroup } from '@basa/abe/noble';
import { withKem } from '@basa/runtime/kem';
import { createNodeKeystream, nodeSuite } from '@basa/runtime/node';
import { createPlainKeystream, webSuite } from '@basa/runtime/web';
import type { Platform } from './suite.ts';

/** Node's suite, and mcl for pairings. */
export async function nodePlatform(everyNthPoint = 1): Promise<Platform> {
  const keystream = createNodeKeystream();
  return {
    suite: withKem(nodeSuite),
    keystream: (request) => keystream.read(request),
    agree: (secretKey, publicKey) => nodeSuite.x25519(secretKey).agree(publicKey),
    group: await createMclGroup(),
    everyNthPoint,
  };
}

/** The suite of browsers, and the pairings of noble, which need no WebAssembly. */
export function webPlatformInNode(): Platform {
  const keystream = createPlainKeystream();
  return {
    suite: withKem(webSuite),
    keystream: (request) => keystream.read(request),
    agree: (secretKey, publicKey) => webSuite.x25519(secretKey).agree(publicKey),
    group: createNobleGroup(),
    everyNthPoint: 25,
  };
}
