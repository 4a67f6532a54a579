/** The body of a request, chunk by chunk as it arrives: no chunk is copied, joined with others or awaited one by one. */
import type { Readable } from 'node:stream';

/** Returns undefined if the next chunk may come at once. */
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
