/** The only message of a contribution: the bytes that were frozen, in pieces. */
import { SERVER_PATH } from '@basa/protocol/http';
import type { ContributeRequest } from '@basa/protocol/one-shot';
import { shotUploadCodec, uploadNameOf } from '@basa/protocol/wire';
import type { DeviceContext } from './device-context.ts';
import { uploadInPieces } from './upload-pieces.ts';

export async function sendShot(
  { events, outside, pieceBytes, server, task }: DeviceContext,
  { upload, body, isResumed }: Extract<ContributeRequest, { kind: 'shot' }>,
  signal: AbortSignal,
): Promise<void> {
  await uploadInPieces(server, {
    target: SERVER_PATH.shot(task, uploadNameOf(outside.suite, upload.header)),
    header: shotUploadCodec.encode(upload),
    body,
    isResumed,
    signal,
    pieceBytes,
    onProgress: (bytes) => events.emit('progress', { step: 'upload', sent: bytes, total: body.length }),
    sleep: outside.sleep,
  });
}
