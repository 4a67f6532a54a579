/** The device's certificate: requested once, and checked before it is kept. */
import { equalBytes } from '@basa/masking';
import { type Certificate, certificateCodec, hasGoodEndorsements, isEndorsed } from '@basa/protocol/wire';
import { RefusedError } from '../errors.ts';
import type { Rejection } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import { rejected, rejectionOf } from './rejections.ts';

/** Keeps the stored certificate; a device without one enrols, with the token if there is one. */
export async function ensureEnrolled(context: DeviceContext, signal: AbortSignal): Promise<void> {
  if (context.state.certificate === undefined) await enrol(context, signal);
}

/** Sends a request with the certificate. */
export async function withCertificate<Answer>(
  context: DeviceContext,
  signal: AbortSignal,
  ask: (certificate: Certificate) => Promise<Answer>,
): Promise<Answer | Rejection> {
  const { state } = context;
  try {
    await ensureEnrolled(context, signal);
    return state.certificate === undefined ? rejected('not-enrolled', 'free') : await ask(state.certificate);
  } catch (error) {
    return rejectionOf(error);
  }
}

async function enrol(context: DeviceContext, signal: AbortSignal): Promise<void> {
  const { authorities, outside, policy, state, task, token } = context;
  const certificate = await authorities.enrol(task, token, (answer) => isMine(context, answer), signal);
  if (!isEndorsed(outside.suite, certificateCodec, policy, certificate)) throw new RefusedError('wrong-certificate');
  await state.keepCertificate(certificate);
}

/** Checks the certificate of one authority: there may be too few signatures, but every one must be valid. */
function isMine({ outside, policy, state, task }: DeviceContext, certificate: Certificate): boolean {
  return (
    certificate.endorsements.length > 0 &&
    hasGoodEndorsements(outside.suite, certificateCodec, policy, certificate) &&
    equalBytes(certificate.task, task) &&
    equalBytes(certificate.deviceKey, state.signer.publicKey)
  );
}
