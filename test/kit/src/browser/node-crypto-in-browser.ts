/** The parts of node:crypto and Buffer that the writers of vectors use, over the browser's own suite. */
import { concatBytes, fromHex, toHex } from '@basa/masking';
import { createPlainKeystream, webSuite } from '@basa/runtime/web';

const BLOCK_BYTES = 16;

export function createHash() {
  const parts: Uint8Array[] = [];
  const hash = {
    update(part: Uint8Array) {
      parts.push(part);
      return hash;
    },
    digest: (_: 'hex') => toHex(webSuite.sha256(...parts)),
  };
  return hash;
}

/** Continues from its last position, in whole words. */
export function createCipheriv(_: 'aes-128-ctr', key: Uint8Array, counter: Uint8Array) {
  const keystream = createPlainKeystream();
  let read = 0;
  return {
    update({ length }: Uint8Array): Uint8Array {
      const [block, skip] = [Math.floor(read / BLOCK_BYTES), read % BLOCK_BYTES];
      const at = counter.slice();
      new DataView(at.buffer).setUint32(BLOCK_BYTES - 4, block);
      read += length;
      const bytes = skip + length;
      const stream = { key, counter };
      return keystream.read({ stream, firstByte: block * BLOCK_BYTES, counter: at, bytes }).subarray(skip);
    },
  };
}

/** Bytes that print like Node's. */
class BrowserBytes extends Uint8Array {
  writeUInt32LE(value: number): void {
    new DataView(this.buffer).setUint32(0, value, true);
  }

  override toString(): string {
    return toHex(this);
  }
}

function bytesFrom(source: string | ArrayLike<number>, encoding?: 'hex'): Uint8Array {
  if (typeof source !== 'string') return new BrowserBytes(Uint8Array.from(source));
  return encoding === 'hex' ? (fromHex(source) ?? new Uint8Array()) : new TextEncoder().encode(source);
}

Object.assign(globalThis, {
  Buffer: {
    from: bytesFrom,
    alloc: (bytes: number) => new BrowserBytes(bytes),
    concat: (parts: readonly Uint8Array[]) => new BrowserBytes(concatBytes(...parts)),
  },
});
