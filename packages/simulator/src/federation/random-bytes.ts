/** Random bytes from a stream of words. */
import type { RandomBytes, RandomWords } from '@basa/masking';

export function randomBytesFrom(words: RandomWords): RandomBytes {
  return (length) => {
    const drawn = new Uint32Array(Math.ceil(length / 4));
    words(drawn);
    const bytes = new Uint8Array(length);
    // A view of a short array of words would cost ten times as much.
    for (let n = 0; n < length; n++) bytes[n] = (drawn[n >> 2] as number) >>> (8 * (n & 3));
    return bytes;
  };
}
