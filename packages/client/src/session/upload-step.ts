/** The upload: the bytes that were frozen, in pieces. */
import {
  authorityMessages,
  type ContributeRequest,
  type Membership,
  SERVER_PATH,
  shotUploadCodec,
  uploadNameOf,
} from '@basa/protocol';
import type { DeviceContext } from './device-context.ts';
import { type Upload, uploadInPieces } from './upload-pieces.ts';

export function sendUpload(
  context: DeviceContext,
  { header, body, isResumed }: Extract<ContributeRequest, { kind: 'upload' }>,
  { ctx, descriptor }: Membership,
  signal: AbortSignal,
): Promise<void> {
  const { uploadHeader } = authorityMessages(descriptor.bufferSize);
  const target = SERVER_PATH.upload(ctx, header.slot);
  return send(context, { target, header: uploadHeader.encode(header), body, isResumed, signal });
}

/** The only message of the one-shot mode. */
export function sendShot(
  context: DeviceContext,
  { upload, body, isResumed }: Extract<ContributeRequest, { kind: 'shot' }>,
  signal: AbortSignal,
): Promise<void> {
  const target = SERVER_PATH.shot(context.task, uploadNameOf(context.outside.suite, upload.header));
  return send(context, { target, header: shotUploadCodec.encode(upload), body, isResumed, signal });
}

type Sent = Pick<Upload, 'target' | 'header' | 'body' | 'isResumed' | 'signal'>;

async function send({ events, outside, pieceBytes, server }: DeviceContext, sent: Sent): Promise<void> {
  const { body } = sent;
  await uploadInPieces(server, {
    ...sent,
    pieceBytes,
    onProgress: (bytes) => events.emit('progress', { step: 'upload', sent: bytes, total: body.length }),
    sleep: outside.sleep,
  });
}
