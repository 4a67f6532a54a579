/** AES-128-CTR keystream from WebCrypto, whose threads work on several requests at the same time. */
import type { AsyncKeystream, Keystream } from '@basa/masking';
import { ctr } from '@noble/ciphers/aes.js';
import { Zeros } from '../zeros.ts';

export function createWebKeystream(): AsyncKeystream {
  const zeros = new Zeros();
  const keys = new WeakMap<object, Promise<CryptoKey>>();
  return {
    async read({ stream, counter, bytes }) {
      const key = keys.get(stream) ?? importKey(stream.key);
      keys.set(stream, key);
      const parameters = { name: 'AES-CTR', counter: Uint8Array.from(counter), length: 128 };
      return new Uint8Array(await crypto.subtle.encrypt(parameters, await key, zeros.take(bytes)));
    },
  };
}

function importKey(key: Uint8Array): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', Uint8Array.from(key), 'AES-CTR', false, ['encrypt']);
}

export function createPlainKeystream(): Keystream {
  const zeros = new Zeros();
  return { read: ({ stream, counter, bytes }) => ctr(stream.key, counter).encrypt(zeros.take(bytes)) };
}
