/** The device's certificate: asked for where it is missing or has ended, and checked before it is kept. */
import { equalBytes } from '@basa/masking';
import type { Certificate } from '@basa/protocol';
import { certificateCodec, isSigned } from '@basa/protocol';
import type { Rejection } from './contribution.ts';
import type { Engine } from './engine.ts';
import { RefusedError } from './errors.ts';
import { refusalOf, rejected, rejectionOf } from './rejections.ts';

/** Keeps what the store has, where that is still good; else enrols with the token, if there is one. */
export async function ensureEnrolled(engine: Engine, signal: AbortSignal): Promise<void> {
  const { authority, state } = engine;
  const isGood = state.certificate !== undefined && authority.link.now() < state.certificate.notAfter;
  if (!isGood) await enrol(engine, signal);
}

/** Asks with the device's certificate; one that has ended is renewed once. */
export async function withCertificate<Answer>(
  engine: Engine,
  signal: AbortSignal,
  ask: (certificate: Certificate) => Promise<Answer>,
): Promise<Answer | Rejection> {
  const { state } = engine;
  const asked = async (): Promise<Answer | Rejection> =>
    state.certificate === undefined ? rejected('not-enrolled', 'free') : ask(state.certificate);
  try {
    return await asked();
  } catch (error) {
    if (refusalOf(error) !== 'certificate-expired') return rejectionOf(error);
    await enrol(engine, signal);
    return await asked().catch(rejectionOf);
  }
}

export async function enrol(engine: Engine, signal: AbortSignal): Promise<void> {
  const { authority, state, task, token } = engine;
  const certificate = await authority.enrol(task, token, signal);
  if (!isMine(engine, certificate)) throw new RefusedError('wrong-certificate');
  await state.keepCertificate(certificate);
}

function isMine({ outside, pins, state, task }: Engine, certificate: Certificate): boolean {
  return (
    isSigned(outside.suite, certificateCodec, certificate, pins.authorityKey) &&
    equalBytes(certificate.task, task) &&
    equalBytes(certificate.deviceKey, state.signer.publicKey)
  );
}
