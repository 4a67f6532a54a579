/** AES-128-CTR keystream from node:crypto, synchronous. */
import { type Cipher, createCipheriv } from 'node:crypto';
import type { Keystream } from '@basa/masking';
import { Zeros } from '../zeros.ts';
import { giveBack } from './give-back.ts';

interface OpenStream {
  readonly cipher: Cipher;
  nextByte: number;
}

/**
 * Keeps the cipher of a stream that continues from its last position. The cipher returns new memory each time; the
 * memory of its previous answer is freed first.
 */
export function createNodeKeystream(): Keystream {
  const zeros = new Zeros();
  const open = new WeakMap<object, OpenStream>();
  let last: Uint8Array | undefined;
  return {
    read(request) {
      const { stream, firstByte, bytes } = request;
      let current = open.get(stream);
      if (current?.nextByte !== firstByte) {
        current = { cipher: createCipheriv('aes-128-ctr', stream.key, request.counter), nextByte: firstByte };
        open.set(stream, current);
      }
      current.nextByte += bytes;
      if (last !== undefined) giveBack(last);
      last = current.cipher.update(zeros.take(bytes));
      return last;
    },
  };
}
