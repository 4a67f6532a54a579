/** The device's certificate: asked for where it is missing or has ended, and checked before it is kept. */
import { equalBytes } from '@basa/masking';
import type { Certificate } from '@basa/protocol';
import { certificateCodec, isSigned } from '@basa/protocol';
import type { Engine } from './engine.ts';
import { RefusedError } from './errors.ts';

/** Keeps what the store has, where that is still good; else enrols with the token, if there is one. */
export async function ensureEnrolled(engine: Engine, signal: AbortSignal): Promise<void> {
  const { authority, state } = engine;
  const isGood = state.certificate !== undefined && authority.link.now() < state.certificate.notAfter;
  if (!isGood) await enrol(engine, signal);
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
