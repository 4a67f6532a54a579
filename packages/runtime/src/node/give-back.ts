/**
 * Frees the memory of an array now instead of at the next collection. A message to a closed port takes it along and is thrown away. Who
 * makes arrays by the gigabyte gets the same memory, which the cache still holds, again and again.
 */
import { MessageChannel } from 'node:worker_threads';

/** Below this a collection costs less than the message. */
const LEAST_BYTES = 16_384;

const nowhere = new MessageChannel().port1;
nowhere.close();

/** Nobody may use the array, or another view of its memory, afterwards: they are all empty. */
export function giveBack({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength >= LEAST_BYTES) nowhere.postMessage(undefined, [buffer]);
}
