/**
 * Frees the memory of an array now instead of at the next collection: a message to a closed port takes the memory along
 * and is discarded. Code that makes gigabytes of arrays then gets the same memory, which the cache still holds, again
 * and again.
 */
import { MessageChannel } from 'node:worker_threads';

/** Below this a collection costs less than the message. */
const MIN_BYTES = 16_384;

const nowhere = new MessageChannel().port1;
nowhere.close();

/** Nothing may use the array afterwards: it is empty. An array that shares its memory with others is not touched. */
export function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (byteLength < MIN_BYTES || byteLength !== buffer.byteLength || !(buffer instanceof ArrayBuffer)) return;
  nowhere.postMessage(undefined, [buffer]);
}
