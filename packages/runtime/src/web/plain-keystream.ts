/** AES-128-CTR keystream over noble, at once: for simulations in a page, which cannot wait for WebCrypto. Slow. */
import { ctr } from '@noble/ciphers/aes.js';
import type { KeystreamRequest } from '../keystream.ts';
import { Zeros } from '../keystream.ts';

export function createPlainKeystream(): { read(request: KeystreamRequest): Uint8Array } {
  const zeros = new Zeros();
  return { read: ({ stream, counter, bytes }) => ctr(stream.key, counter).encrypt(zeros.take(bytes)) };
}
