/** AES-128-CTR keystream from node:crypto, synchronous, and the memory that it frees at once. */
import { type Cipher, createCipheriv } from 'node:crypto';
import { MessageChannel } from 'node:worker_threads';
import type { Keystream } from '@basa/masking';
import { Zeros } from '../zeros.ts';

/** Below this a collection costs less than the message. */
const MIN_BYTES = 16_384;

const nowhere = new MessageChannel().port1;
nowhere.close();

/** Nothing may use the array afterwards: it is empty. An array that shares its memory with others is not touched. */
export function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (byteLength < MIN_BYTES || byteLength !== buffer.byteLength || !(buffer instanceof ArrayBuffer)) return;
  nowhere.postMessage(undefined, [buffer]);
}

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
