/** The body of a request, chunk by chunk as it arrives: no chunk is copied, joined with others or awaited one by one. */
import type { Readable } from 'node:stream';
import { giveBack, nodeCrc32 } from '@basa/runtime/node';
import { fail } from '@basa/service';

/** Returns undefined if the next chunk may come immediately. */
type Take = (chunk: Uint8Array) => Promise<void> | undefined;

/**
 * Resolves after the last chunk. An error of `take` ends the reading, but the connection stays open, so that the sender
 * receives the reason.
 */
export function readBody(body: Readable, take: Take): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void): void => {
      body.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      end();
    };
    const onError = (error: unknown): void => settle(() => reject(error));
    const onEnd = (): void => settle(resolve);
    const onClose = (): void => onError(new Error('the body was cut off'));
    const onData = (chunk: Uint8Array): void => {
      try {
        const busy = take(chunk);
        if (busy === undefined) return;
        body.pause();
        busy.then(() => body.resume(), onError);
      } catch (error) {
        onError(error);
      }
    };
    body.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
    if (body.destroyed) onClose();
  });
}

/** All of a body of at most this many bytes, held to its checksum. */
export async function readSmall(
  { body, crc }: { readonly body: Readable; readonly crc: number },
  most: number,
): Promise<Uint8Array> {
  const memory = Buffer.allocUnsafe(most);
  let length = 0;
  await readBody(body, (chunk) => {
    if (length + chunk.length > most) fail('body-too-large', { detail: `the whole body has ${most} bytes` });
    memory.set(chunk, length);
    length += chunk.length;
    giveBack(chunk);
    return undefined;
  });
  const bytes = memory.subarray(0, length);
  if (nodeCrc32(bytes) !== crc) fail('digest-mismatch');
  return bytes;
}
