/** From an element of GT to an AEAD key, and the AEAD that uses it once. */
import { ascii, ByteWriter, concatBytes, type Suite } from '@basa/masking';

const KEM_KEY_BYTES = 32;
export const TAG_BYTES = 16;

/** A key seals one plaintext, so the nonce needs no bits. */
const NONCE = new Uint8Array(12);
const NO_DATA = new Uint8Array(0);

export interface KemInput {
  /** Separates the uses of this function. */
  readonly label: string;
  /** What only the two sides know, e.g. the bytes of A^s. Wiped. */
  readonly secret: Uint8Array;
  /** The bytes of the ciphertext before the sealed part. */
  readonly header: Uint8Array;
  /** Where the ciphertext is meant to be opened. */
  readonly context: Uint8Array;
}

/**
 * HKDF over the secret. Header and context enter by their hash: both may be long, and OpenSSL takes 1 kB of info.
 * The length in front of the header keeps the two apart.
 */
export function kemKey({ label, secret, header, context }: KemInput, suite: Suite): Uint8Array {
  const headerLength = new ByteWriter().u32(header.length).finish();
  const info = concatBytes(ascii(label), suite.sha256(headerLength, header, context));
  const key = suite.hkdf({ secret, salt: ascii('basa-abe-v1'), info, length: KEM_KEY_BYTES });
  secret.fill(0);
  return key;
}

/** Seals once under the key and wipes it. */
export function sealOnce(key: Uint8Array, plaintext: Uint8Array, suite: Suite): Uint8Array {
  const sealed = suite.seal({ key, nonce: NONCE, associatedData: NO_DATA, plaintext });
  key.fill(0);
  return sealed;
}

/** The plaintext, or undefined where the tag does not verify. Wipes the key. */
export function openOnce(key: Uint8Array, ciphertext: Uint8Array, suite: Suite): Uint8Array | undefined {
  const plaintext = suite.open({ key, nonce: NONCE, associatedData: NO_DATA, ciphertext });
  key.fill(0);
  return plaintext;
}
