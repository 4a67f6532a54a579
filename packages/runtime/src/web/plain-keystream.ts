/** Synchronous AES-128-CTR keystream with noble, for simulations in a page, which cannot wait for WebCrypto. It is slow. */

import type { Keystream } from '@basa/masking';
import { ctr } from '@noble/ciphers/aes.js';
import { Zeros } from '../zeros.ts';

export function createPlainKeystream(): Keystream {
  const zeros = new Zeros();
  return { read: ({ stream, counter, bytes }) => ctr(stream.key, counter).encrypt(zeros.take(bytes)) };
}
