/** Random bytes from a stream of words. */
import type { RandomBytes, RandomWords } from '@basa/masking';

export function randomBytesFrom(words: RandomWords): RandomBytes {
  return (length) => {
    const drawn = new Uint32Array(Math.ceil(length / 4));
    words(drawn);
    return new Uint8Array(drawn.buffer, 0, length).slice();
  };
}
