/** Random bytes from the operating system. */
import { randomFillSync } from 'node:crypto';

export function nodeRandomBytes(length: number): Uint8Array {
  return randomFillSync(new Uint8Array(length));
}
