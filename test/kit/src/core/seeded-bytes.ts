/** Random bytes that repeat with their seed. */
import type { RandomBytes } from '@basa/masking';
import { seededWords } from '@basa/virtual-time/simulation';

export function seededBytes(seed: number): RandomBytes {
  const words = seededWords(seed);
  return (length) => {
    const drawn = new Uint32Array(Math.ceil(length / 4));
    words(drawn);
    return new Uint8Array(drawn.buffer, 0, length).slice();
  };
}
