/** The suite in a browser: synchronous, over the noble libraries, with the same answers as node/suite.ts. */

import type { Suite } from '@basa/masking';
import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { ed25519, x25519 } from '@noble/curves/ed25519.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { isStrictSignature } from '../ed25519-strict.ts';
import { TAG_BYTES } from '../tag.ts';

export const webSuite: Suite = {
  sha256(...parts) {
    const hash = sha256.create();
    for (const part of parts) hash.update(part);
    return hash.digest();
  },

  hkdf({ secret, salt, info, length }) {
    return hkdf(sha256, secret, salt, info, length);
  },

  seal({ key, nonce, associatedData, plaintext }) {
    return chacha20poly1305(key, nonce, associatedData).encrypt(plaintext);
  },

  open({ key, nonce, associatedData, ciphertext }) {
    if (ciphertext.length < TAG_BYTES) return undefined;
    try {
      return chacha20poly1305(key, nonce, associatedData).decrypt(ciphertext);
    } catch {
      return undefined;
    }
  },

  // Deviates from noble's own verify, which multiplies by the cofactor: OpenSSL does not, and a message must not be
  // valid for a browser and invalid for the server.
  verify({ signature, message, publicKey }) {
    if (!isStrictSignature(signature, publicKey)) return false;
    const { Point } = ed25519;
    try {
      const key = Point.fromBytes(publicKey);
      const challenge = Point.Fn.create(
        littleEndian(sha512.create().update(signature.subarray(0, 32)).update(publicKey).update(message).digest()),
      );
      const expected = Point.BASE.multiplyUnsafe(littleEndian(signature.subarray(32)))
        .subtract(key.multiplyUnsafe(challenge))
        .toBytes();
      return expected.every((byte, i) => byte === signature[i]);
    } catch {
      return false;
    }
  },

  x25519(secretKey) {
    let ownKey: Uint8Array | undefined;
    return {
      get publicKey() {
        ownKey ??= x25519.getPublicKey(secretKey);
        return ownKey;
      },
      agree(publicKey) {
        try {
          return x25519.getSharedSecret(secretKey, publicKey);
        } catch {
          return undefined;
        }
      },
    };
  },

  kem: undefined,
};

/** Loads ML-KEM, which most tasks do not need. */
export async function webSuiteWithKem(): Promise<Suite> {
  const { withKem } = await import('../kem.ts');
  return withKem(webSuite);
}

function littleEndian(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes.slice().reverse()) value = (value << 8n) | BigInt(byte);
  return value;
}
