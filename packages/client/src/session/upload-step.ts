/** The upload: the bytes that were frozen, in pieces. */
import { authorityMessages, type ContributeRequest, type Membership } from '@basa/protocol';
import type { DeviceContext } from './device-context.ts';
import { uploadInPieces } from './upload-pieces.ts';

export async function sendUpload(
  { events, outside, pieceBytes, server }: DeviceContext,
  { header, body, isResumed }: Extract<ContributeRequest, { kind: 'upload' }>,
  { ctx, descriptor }: Membership,
  signal: AbortSignal,
): Promise<void> {
  const { uploadHeader } = authorityMessages(descriptor.bufferSize);
  await uploadInPieces(server, {
    ctx,
    slot: header.slot,
    header: uploadHeader.encode(header),
    body,
    pieceBytes,
    isResumed,
    signal,
    onProgress: (sent) => events.emit('progress', { step: 'upload', sent, total: body.length }),
    sleep: outside.sleep,
  });
}
