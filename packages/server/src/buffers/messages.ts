/** The codecs of messages whose ciphertext lengths depend on the engine of their buffer. */
import {
  type Descriptor,
  ENGINE,
  MAX_AUTHORITIES,
  MAX_SLOTS,
  type SecureBuffer,
  sealedBytesOf,
  type UploadHeader,
  type UploadLayout,
  type UserMessages,
  uploadLayout,
  userMessages,
} from '@basa/protocol';

const COMMITMENT_BYTES = 32;
/** Certificate, names and signature. */
const STATEMENT_BYTES = 4096;

export function messagesOf(descriptor: Pick<Descriptor, 'bufferSize' | 'engine' | 'parts'>): UserMessages {
  return userMessages(descriptor.bufferSize, sealedIn(descriptor));
}

/** The length of sealed seeds in a buffer. */
export function sealedIn({ engine, parts }: Pick<Descriptor, 'engine' | 'parts'>): { readonly sealedBytes: number } {
  return { sealedBytes: knownSealedBytes(engine, parts.length) };
}

/** The positions of the vector and the sealed seeds in an upload into a slot. */
export function layoutOf({
  buffer: { descriptor },
  header,
}: {
  readonly buffer: Pick<SecureBuffer, 'descriptor'>;
  readonly header: UploadHeader;
}): UploadLayout {
  return uploadLayout(descriptor, header, sealedIn(descriptor));
}

/** The server accepts only tasks whose engine has sealing. */
export function knownSealedBytes(engine: number, parts = 1): number {
  const bytes = sealedBytesOf(engine, parts);
  if (bytes === undefined) throw new RangeError(`there is no engine ${engine}`);
  return bytes;
}

/** The largest deposit into a buffer. */
export function depositBytes(descriptor: Pick<Descriptor, 'bufferSize' | 'engine' | 'parts'>): number {
  return STATEMENT_BYTES + descriptor.bufferSize * (COMMITMENT_BYTES + sealedIn(descriptor).sealedBytes);
}

/** The size of the largest possible deposit: with a part of every authority that a task can have. */
export const MAX_DEPOSIT_BYTES: number =
  STATEMENT_BYTES + MAX_SLOTS * (COMMITMENT_BYTES + knownSealedBytes(ENGINE.slotKeys, MAX_AUTHORITIES));
