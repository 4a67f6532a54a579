/** Statements with any signature a test asks for, including signers that are no authority, and under another's index. */
import type { Signer } from '@basa/masking';
import type { Endorsed, EndorsedCodec, KeySource, SecureBuffer } from '@basa/protocol';

export function endorsedBy<T extends object>(
  codec: EndorsedCodec<T>,
  signer: Pick<Signer, 'sign'>,
  body: T,
  authority = 0,
): T & Endorsed {
  return { ...body, endorsements: [{ authority, signature: signer.sign(codec.statement(body)) }] };
}

/** The inputs from which an issuer makes the keys of one part of a buffer. */
export function keysFor(
  { ctx, descriptor }: Pick<SecureBuffer, 'ctx' | 'descriptor'>,
  authority = 0,
): { readonly ctx: SecureBuffer['ctx']; readonly authority: number; readonly source: KeySource } {
  const part = descriptor.parts.find((one) => one.authority === authority);
  if (part === undefined) throw new Error(`authority ${authority} has no part in this buffer`);
  const { task, bufferSize } = descriptor;
  return { ctx, authority, source: { task, bufferSize, offer: part.offer } };
}
