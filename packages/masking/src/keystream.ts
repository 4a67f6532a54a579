/** The one PRG: HKDF-SHA-256 makes an AES-128-CTR key and counter of a seed; the stream's elements are the mask. */
import { ascii, concatBytes } from './bytes.ts';
import type { Suite } from './suite.ts';

/** Key and first counter block of one AES-128-CTR stream. */
export interface StreamKey {
  readonly key: Uint8Array;
  readonly counter: Uint8Array;
}

/** A piece of a stream: `bytes` bytes from `firstByte` (a multiple of 16); `counter` is the counter block at that point. */
export interface KeystreamRequest {
  readonly stream: StreamKey;
  readonly firstByte: number;
  readonly counter: Uint8Array;
  readonly bytes: number;
}

/** AES-128-CTR with a 128-bit big-endian counter. The next call may reuse the array that `read` returns. */
export interface Keystream {
  read(request: KeystreamRequest): Uint8Array;
}

/** The same over WebCrypto, which answers later. */
export interface AsyncKeystream {
  read(request: KeystreamRequest): Promise<Uint8Array>;
}

export const SEED_BYTES = 32;

const MASK_LABEL = ascii('mask');
const REJECT_LABEL = ascii('mask-reject');

/**
 * key || counter = HKDF-SHA-256(seed, salt = ctx, info = "mask"). Round n >= 1 is the n-th replacement stream
 * for words the field rejects, with info = "mask-reject" || u8(n).
 */
export function deriveStreamKey(suite: Suite, seed: Uint8Array, salt: Uint8Array, round: number): StreamKey {
  if (seed.length !== SEED_BYTES) throw new RangeError(`seed must be ${SEED_BYTES} bytes, got ${seed.length}`);
  const info = round === 0 ? MASK_LABEL : concatBytes(REJECT_LABEL, Uint8Array.of(round));
  const okm = suite.hkdf({ secret: seed, salt, info, length: 32 });
  return { key: okm.subarray(0, 16), counter: okm.subarray(16, 32) };
}

export function requestKeystream(stream: StreamKey, firstByte: number, bytes: number): KeystreamRequest {
  return new Piece(stream, firstByte, bytes);
}

/** The counter is computed only on demand: a stream that continues from its last position does not need it. */
class Piece implements KeystreamRequest {
  readonly stream: StreamKey;
  readonly firstByte: number;
  readonly bytes: number;

  constructor(stream: StreamKey, firstByte: number, bytes: number) {
    this.stream = stream;
    this.firstByte = firstByte;
    this.bytes = bytes;
  }

  get counter(): Uint8Array {
    return advanceCounter(this.stream.counter, this.firstByte / 16);
  }
}

/** The counter block `blocks` further on, modulo 2^128. */
function advanceCounter(counter: Uint8Array, blocks: number): Uint8Array {
  const advanced = counter.slice();
  let carry = blocks;
  for (let i = 15; i >= 0 && carry > 0; i--) {
    const total = (advanced[i] as number) + (carry % 256);
    advanced[i] = total;
    carry = Math.floor(carry / 256) + (total > 255 ? 1 : 0);
  }
  return advanced;
}
