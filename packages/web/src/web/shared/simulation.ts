/** The environment of a federation that runs in a page: real cryptography, and randomness that repeats within one visit. */
import { abeIssuer, abeSealing, createMclGroup, decodePublicKey, setup } from '@basa/abe';
import { plainVectorKernel, type RandomWords, type Suite } from '@basa/masking';
import {
  createPlainKeystream,
  createWasmVectorKernel,
  createWebSigner,
  webRandomBytes,
  webSuite,
} from '@basa/runtime/web';
import type { Environment, PaperSealings } from '@basa/simulator';

const BLOCK_BYTES = 16;

export function pageEnvironment(suite: Suite = webSuite): Environment {
  const secret = webRandomBytes(32);
  const keystream = createPlainKeystream();
  const tools = { suite, kernel: createWasmVectorKernel() ?? plainVectorKernel(), keystream };
  const randomWords = (seed: number): RandomWords => {
    const key = webSuite
      .sha256(
        secret,
        Uint8Array.from(String(seed), (c) => c.charCodeAt(0)),
      )
      .slice(0, 16);
    const stream = { key, counter: new Uint8Array(BLOCK_BYTES) };
    let block = 0;
    return (target) => {
      const counter = stream.counter.slice();
      new DataView(counter.buffer).setUint32(BLOCK_BYTES - 4, block);
      const bytes = keystream.read({ stream, firstByte: block * BLOCK_BYTES, counter, bytes: target.byteLength });
      new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(bytes);
      block += Math.ceil(target.byteLength / BLOCK_BYTES);
    };
  };
  return { tools, createSigner: createWebSigner, randomWords };
}

/** CP-ABE with a fresh authority for every call. */
export async function loadPaperSealings(): Promise<() => PaperSealings> {
  const group = await createMclGroup();
  const tools = { group, suite: webSuite, randomBytes: webRandomBytes };
  return () => {
    const issuer = abeIssuer(setup(tools).masterKey, tools);
    const sealing = abeSealing({ publicKey: decodePublicKey(issuer.publicKey, group), ...tools });
    return { issuer, sealing };
  };
}
