/** Runs suites inside a page, with what a device in a browser uses: WebCrypto for X25519 and keystreams, mcl for pairings. */
import { createMclGroup } from '@basa/abe';
import { createWebKeystream, createWebX25519, webSuiteWithKem } from '@basa/runtime/web';
import type { Counted, Platform } from './suite.ts';
import { SUITES } from './suites.ts';

async function chromiumPlatform(): Promise<Platform> {
  const [suite, x25519, group] = await Promise.all([webSuiteWithKem(), createWebX25519(), createMclGroup()]);
  const keystream = createWebKeystream();
  return {
    suite,
    keystream: (request) => keystream.read(request),
    // The client falls back to the suite in the same way if WebCrypto has no X25519.
    agree: async (secretKey, publicKey) =>
      x25519 === undefined ? suite.x25519(secretKey).agree(publicKey) : (await x25519.key(secretKey)).agree(publicKey),
    group,
    everyNthPoint: 1,
  };
}

const platform = chromiumPlatform();

Object.assign(globalThis, {
  runSuite: async (name: string, texts: readonly string[]): Promise<Counted | undefined> =>
    SUITES[name]?.run(texts, await platform),
});
