/** The upload: the bytes that were frozen, or none; acknowledged, the session is over. */
import { concatBytes, equalBytes, toHex } from '@basa/masking';
import type { FrozenSession } from '@basa/protocol';
import {
  acknowledgeUpload,
  authorityMessages,
  bodyHashOf,
  headerToSign,
  maskInput,
  packMasked,
  uploadHeaderMessage,
} from '@basa/protocol';
import type { Contribution, Rejection } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import { userPorts } from './device-context.ts';
import { ProblemError, StoreError } from './errors.ts';
import type { Meter } from './meter.ts';
import { refusalOf, rejected } from './rejections.ts';
import { uploadInPieces } from './upload-pieces.ts';

/** The body of a frozen upload made again: the same bytes, or none. */
export async function bodyAgain({ outside, state }: DeviceContext, session: FrozenSession): Promise<Uint8Array> {
  const input = await state.input();
  const masking = maskInput(outside, session, input);
  input.fill(0);
  if (masking.kind === 'refused') throw new StoreError('the store holds another input than the one that was fixed');
  await outside.mask(masking.vector, masking.plan);
  const masked = packMasked(session, masking.vector);
  if (!equalBytes(bodyHashOf(outside.suite, masked, session.backups), session.header.bodyHash)) {
    throw new StoreError('the upload does not come out as it was frozen; the store is damaged');
  }
  return concatBytes(masked, ...session.backups);
}

export async function upload(
  context: DeviceContext,
  session: FrozenSession,
  body: Uint8Array,
  isResumed: boolean,
  meter: Meter,
  signal: AbortSignal,
): Promise<Contribution | Rejection> {
  const { events, outside, pieceBytes, server, state } = context;
  const { ctx, joinTag, descriptor } = session.member;
  const { slot } = session.header;
  const { uploadHeader } = authorityMessages(descriptor.bufferSize);
  const signature = await state.signer.sign(headerToSign(session).statement);
  const header = uploadHeader.encode(uploadHeaderMessage(session, signature));
  const onProgress = (sent: number): void => events.emit('progress', { step: 'upload', sent, total: body.length });
  try {
    await uploadInPieces(server, {
      ctx,
      slot,
      header,
      body,
      pieceBytes,
      isResumed,
      signal,
      onProgress,
      sleep: outside.sleep,
    });
  } catch (error) {
    const reason = refusalOf(error);
    if (reason === undefined || !(error instanceof ProblemError)) throw error;
    // Its bytes were offered: from here on none leave, and only the authority's outcome frees the update.
    await state.dropSession();
    return rejected(reason, 'held', error);
  }
  await state.take(acknowledgeUpload(userPorts(context, descriptor), state));
  return { kind: 'accepted', ctx: toHex(ctx), joinTag: toHex(joinTag), slot, costs: meter.costs };
}
