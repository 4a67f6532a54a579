/** AES-128-CTR keystream from WebCrypto, block by block. */
import type { KeystreamRequest } from '../keystream.ts';
import { Zeros } from '../keystream.ts';

/** WebCrypto's threads work on several requests at the same time. */
export function createWebKeystream(): { read(request: KeystreamRequest): Promise<Uint8Array> } {
  const zeros = new Zeros();
  const keys = new WeakMap<object, Promise<CryptoKey>>();
  return {
    async read({ stream, counter, bytes }) {
      let key = keys.get(stream);
      if (key === undefined) {
        key = crypto.subtle.importKey('raw', Uint8Array.from(stream.key), 'AES-CTR', false, ['encrypt']);
        keys.set(stream, key);
      }
      const parameters = { name: 'AES-CTR', counter: Uint8Array.from(counter), length: 128 };
      return new Uint8Array(await crypto.subtle.encrypt(parameters, await key, zeros.take(bytes)));
    },
  };
}
