/**
 * Brings the session of the device to its end, from whatever step its records show: the same code after a crash as
 * without one. Each step is durable before its bytes leave.
 */
import { toHex } from '@basa/masking';
import type { Contribution, Rejection } from './contribution.ts';
import { deposit } from './deposit-step.ts';
import type { DeviceContext } from './device-context.ts';
import { obtainKeyAndFreeze } from './key-step.ts';
import type { Meter } from './meter.ts';
import { bodyAgain, upload } from './upload-step.ts';

/** Resolves with what became of it; throws where that is not decided yet, with the session kept. */
export async function finishSession(
  context: DeviceContext,
  meter: Meter,
  signal: AbortSignal,
): Promise<Contribution | Rejection> {
  const { events, state } = context;
  let body: Uint8Array | undefined;
  if (state.session?.step === 'prepared') {
    events.emit('progress', { step: 'deposit' });
    const { session } = state;
    const no = await meter.measure('deposit', () => deposit(context, session, signal));
    if (no !== undefined) return no;
  }
  if (state.session?.step === 'slotted') {
    events.emit('slotted', { ctx: toHex(state.session.member.ctx), slot: state.session.ticket.slot });
    events.emit('progress', { step: 'key' });
    const made = await obtainKeyAndFreeze(context, state.session, meter, signal);
    if (!(made instanceof Uint8Array)) return made;
    body = made;
  }
  const { session } = state;
  if (session?.step !== 'frozen') throw new Error(`a session does not end from step ${session?.step}`);
  const isResumed = body === undefined;
  const whole = body ?? (await meter.measure('mask', () => bodyAgain(context, session)));
  return await meter.measure('upload', () => upload(context, session, whole, isResumed, meter, signal));
}
