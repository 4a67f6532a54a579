/** AES-128-CTR keystream from WebCrypto, ahead of whoever reads it in order: a call costs as much as many kilobytes. */
import type { AsyncKeystream } from '@basa/masking';
import { Zeros } from '../zeros.ts';

const BLOCK_BYTES = 16;
const MAX_AHEAD_BYTES = 1 << 19;

interface OpenStream {
  readonly key: Promise<CryptoKey>;
  /** The last piece that was made, which the next read may be in. */
  piece?: { readonly firstByte: number; readonly bytes: number; readonly made: Promise<Uint8Array> };
}

/** WebCrypto's threads work on several requests at the same time. */
export function createWebKeystream(): AsyncKeystream {
  const zeros = new Zeros();
  const open = new WeakMap<object, OpenStream>();

  const make = async (key: Promise<CryptoKey>, counter: Uint8Array, bytes: number): Promise<Uint8Array> => {
    const parameters = { name: 'AES-CTR', counter: Uint8Array.from(counter), length: 128 };
    return new Uint8Array(await crypto.subtle.encrypt(parameters, await key, zeros.take(bytes)));
  };

  return {
    async read(request) {
      const { stream, firstByte, bytes } = request;
      const state = open.get(stream) ?? { key: importKey(stream.key) };
      open.set(stream, state);
      const { piece } = state;
      const end = piece === undefined ? 0 : piece.firstByte + piece.bytes;
      if (piece !== undefined && firstByte >= piece.firstByte && firstByte + bytes <= end) {
        const at = firstByte - piece.firstByte;
        return (await piece.made).subarray(at, at + bytes);
      }
      // Who reads on from where the last piece ended will read on: twice as much each time.
      const isNext = piece !== undefined && firstByte === end;
      const wanted = isNext ? Math.max(bytes, Math.min(MAX_AHEAD_BYTES, 2 * piece.bytes)) : bytes;
      const whole = Math.ceil(wanted / BLOCK_BYTES) * BLOCK_BYTES;
      const made = make(state.key, request.counter, whole);
      state.piece = { firstByte, bytes: whole, made };
      return (await made).subarray(0, bytes);
    },
  };
}

function importKey(key: Uint8Array): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', Uint8Array.from(key), 'AES-CTR', false, ['encrypt']);
}
