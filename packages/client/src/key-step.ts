/** The key of the slot: opens what earlier users sealed to it; then the input is masked and the upload frozen. */
import { concatBytes, DecodeError } from '@basa/masking';
import type { SlottedSession } from '@basa/protocol';
import {
  freezeUpload,
  isRefused,
  keyRequestMessage,
  keyRequestToSign,
  maskInput,
  packMasked,
  receiveKey,
} from '@basa/protocol';
import { abandon, abandonOrThrow } from './abandon.ts';
import type { Rejection } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import { userPorts } from './device-context.ts';
import type { Meter } from './meter.ts';

/** Leaves a frozen session and resolves with the body of its upload. */
export async function obtainKeyAndFreeze(
  context: DeviceContext,
  session: SlottedSession,
  meter: Meter,
  signal: AbortSignal,
): Promise<Uint8Array | Rejection> {
  const { authority, outside, server, state } = context;
  const { ctx, descriptor } = session.member;
  // Nothing was given away yet: a slot that is lost leaves the update free.
  if (server.link.now() >= session.ticket.deadline) return abandon(context, session, 'lease-over');
  const ports = userPorts(context, descriptor);
  try {
    const draft = await meter.measure('key', async () => {
      const signature = await state.signer.sign(keyRequestToSign(ports, session).statement);
      const request = keyRequestMessage(ports, session, signature);
      return receiveKey(ports, session, await authority.key(ctx, request, descriptor.bufferSize, signal));
    });
    if (draft.kind === 'refused') return await abandon(context, session, draft.reason);
    context.events.emit('progress', { step: 'mask' });
    return await meter.measure('mask', async () => {
      const input = await state.input();
      const masking = maskInput(ports, session, input, draft);
      input.fill(0);
      if (masking.kind === 'refused') return await abandon(context, session, masking.reason);
      await outside.mask(masking.vector, masking.plan);
      signal.throwIfAborted();
      const masked = packMasked(session, masking.vector);
      const frozen = await state.take(freezeUpload(ports, state, draft, masked));
      for (const seed of draft.earlier) seed.wipe();
      if (isRefused(frozen)) return await abandon(context, session, frozen.reason);
      return concatBytes(masked, ...draft.backups);
    });
  } catch (error) {
    // Key bytes that are no key are their issuer's fault, and nothing this device can mend.
    if (error instanceof DecodeError) return await abandon(context, session, 'key-invalid');
    return await abandonOrThrow(context, session, error);
  }
}
