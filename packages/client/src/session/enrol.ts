/** The device's certificate: requested if it is missing or about to end, and checked before it is kept. */
import { equalBytes } from '@basa/masking';
import { type Certificate, certificateCodec, hasGoodEndorsements, isDueForRenewal, isEndorsed } from '@basa/protocol';
import { isOfService, RefusedError } from '../errors.ts';
import type { Rejection } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import { refusalOf, rejected, rejectionOf } from './rejections.ts';

/**
 * Keeps the stored certificate if it is valid for a while; otherwise enrols, with the token if there is one. An
 * enrolled device needs no token: its certificate is renewed before it ends.
 */
export async function ensureEnrolled(context: DeviceContext, signal: AbortSignal): Promise<void> {
  const { authorities, state } = context;
  const { certificate } = state;
  const now = authorities.now();
  if (certificate === undefined || now >= certificate.notAfter) return await enrol(context, signal);
  if (!isDueForRenewal(certificate, now)) return;
  try {
    await enrol(context, signal);
  } catch (error) {
    signal.throwIfAborted();
    // The old one is valid for a while, and a new one is requested with the next contribution.
    if (!isOfService(error)) throw error;
  }
}

/**
 * Sends a request with a certificate that is still valid for a while. If the certificate has ended by the server's clock, it is renewed
 * once.
 */
export async function withCertificate<Answer>(
  context: DeviceContext,
  signal: AbortSignal,
  ask: (certificate: Certificate) => Promise<Answer>,
): Promise<Answer | Rejection> {
  const { state } = context;
  const asked = async (): Promise<Answer | Rejection> =>
    state.certificate === undefined ? rejected('not-enrolled', 'free') : ask(state.certificate);
  try {
    await ensureEnrolled(context, signal);
    return await asked();
  } catch (error) {
    if (refusalOf(error) !== 'certificate-expired') return rejectionOf(error);
    return await enrol(context, signal).then(asked).catch(rejectionOf);
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
