/** CT of BSW07 (4.2) as a KEM with an AEAD behind it. */

import { ascii, ByteWriter, concatBytes, type Suite } from '@basa/masking';
import type { G1, G2 } from './group.ts';
import type { Policy } from './policy.ts';

/** Lets a holder of satisfying attributes compute the shared secret A^s. */
export interface Encapsulation {
  /** The tree, which is public. */
  readonly policy: Policy;
  /** C = h^s */
  readonly c: G1;
  /** One per leaf, from left to right. */
  readonly leaves: readonly LeafPart[];
}

export interface LeafPart {
  /** C_y = g2^q_y(0) */
  readonly cy: G2;
  /** C'_y = H(att(y))^q_y(0) */
  readonly cyPrime: G1;
}

/** Deviates: the paper's C~ = M A^s takes an element of GT; here an AEAD under a key made of A^s takes any bytes. */
export interface Ciphertext {
  readonly encapsulation: Encapsulation;
  readonly sealed: Uint8Array;
}

// From an element of GT to an AEAD key, and the AEAD that uses it once.

const KEM_KEY_BYTES = 32;
export const TAG_BYTES = 16;

/** A key seals one plaintext, so the nonce needs no bits. */
const NONCE = new Uint8Array(12);
const NO_DATA = new Uint8Array(0);

export interface KemInput {
  /** Separates the uses of this function. */
  readonly label: string;
  /** A value that only the two sides know, such as the bytes of A^s. It is wiped. */
  readonly secret: Uint8Array;
  /** The bytes of the ciphertext before the sealed part. */
  readonly header: Uint8Array;
  /** The place in the protocol for which the ciphertext is meant. */
  readonly context: Uint8Array;
}

/**
 * HKDF over the secret. Header and context are hashed first, because both may be long and OpenSSL takes at most 1 kB of
 * info. The length in front of the header keeps the two apart.
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

/** Returns the plaintext, or undefined if the tag does not verify. Wipes the key. */
export function openOnce(key: Uint8Array, ciphertext: Uint8Array, suite: Suite): Uint8Array | undefined {
  const plaintext = suite.open({ key, nonce: NONCE, associatedData: NO_DATA, ciphertext });
  key.fill(0);
  return plaintext;
}
