/** Secrets that two users share by X25519, and messages between them that the server carries but cannot read. */
import { ascii, ByteReader, ByteWriter, DecodeError, type RandomBytes, Secret, type Suite } from '@basa/masking';

export interface KeyPair {
  readonly secretKey: Secret;
  readonly publicKey: Uint8Array;
}

const KEY_BYTES = 32;
export const TAG_BYTES = 16;

/** Every key seals one message, so its nonce may be fixed. */
const NONCE = new Uint8Array(12);

export function generateKeyPair(suite: Suite, randomBytes: RandomBytes): KeyPair {
  const secretKey = new Secret(randomBytes(KEY_BYTES));
  return { secretKey, publicKey: suite.x25519(secretKey.reveal()).publicKey };
}

/** Returns the same 32 bytes at both ends, or undefined if the peer's key is not a valid key. */
export function agree(suite: Suite, own: Secret, peerKey: Uint8Array, purpose: string): Secret | undefined {
  const shared = suite.x25519(own.reveal()).agree(peerKey);
  if (shared === undefined) return undefined;
  const agreed = suite.hkdf({ secret: shared, salt: new Uint8Array(), info: ascii(purpose), length: KEY_BYTES });
  shared.fill(0);
  return new Secret(agreed);
}

/** Names one message of one session: no two messages have the same name. */
export interface Envelope {
  readonly session: Uint8Array;
  readonly from: number;
  readonly to: number;
  /** Tells messages with the same ends apart: the version a mask was made for, if there is more than one. */
  readonly stamp?: number;
}

export function sealBetween(suite: Suite, agreed: Secret, envelope: Envelope, plaintext: Uint8Array): Uint8Array {
  const { key, associatedData } = messageKey(suite, agreed, envelope);
  const sealed = suite.seal({ key, nonce: NONCE, associatedData, plaintext });
  key.fill(0);
  return sealed;
}

export function openBetween(
  suite: Suite,
  agreed: Secret,
  envelope: Envelope,
  ciphertext: Uint8Array,
): Uint8Array | undefined {
  const { key, associatedData } = messageKey(suite, agreed, envelope);
  const plaintext = suite.open({ key, nonce: NONCE, associatedData, ciphertext });
  key.fill(0);
  return plaintext;
}

function messageKey(suite: Suite, agreed: Secret, { session, from, to, stamp = 0 }: Envelope) {
  const associatedData = new ByteWriter().u16(from).u16(to).u53(stamp).finish();
  const key = suite.hkdf({ secret: agreed.reveal(), salt: session, info: associatedData, length: KEY_BYTES });
  return { key, associatedData };
}

/** At most one entry for each number of two bytes. */
export const MAX_ENTRIES = 65_536;

export function listOf<Entry>(bytes: Uint8Array, name: string, read: (reader: ByteReader) => Entry): Entry[] {
  const reader = new ByteReader(bytes);
  const list: Entry[] = [];
  while (reader.remaining > 0) {
    if (list.length === MAX_ENTRIES) throw new DecodeError(name, 'too long');
    list.push(read(reader));
  }
  return list;
}
