/** The suite over node:crypto. */
import { createCipheriv, createDecipheriv, diffieHellman, verify } from 'node:crypto';
import type { Suite } from '@basa/masking';
import { isStrictSignature } from '../ed25519-strict.ts';
import { TAG_BYTES } from '../tag.ts';
import { hkdf, sha256 } from './hashing.ts';
import { privateKeyOf, publicKeyOf, rawPublicKey, verifierOf } from './raw-keys.ts';

const AEAD = 'chacha20-poly1305';
const AEAD_OPTIONS = { authTagLength: TAG_BYTES };

export const nodeSuite: Suite = {
  sha256,
  hkdf,

  seal({ key, nonce, associatedData, plaintext }) {
    const cipher = createCipheriv(AEAD, key, nonce, AEAD_OPTIONS);
    cipher.setAAD(associatedData, { plaintextLength: plaintext.length });
    return plain(Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]));
  },

  open({ key, nonce, associatedData, ciphertext }) {
    const length = ciphertext.length - TAG_BYTES;
    if (length < 0) return undefined;
    const decipher = createDecipheriv(AEAD, key, nonce, AEAD_OPTIONS);
    decipher.setAAD(associatedData, { plaintextLength: length });
    decipher.setAuthTag(ciphertext.subarray(length));
    const plaintext = decipher.update(ciphertext.subarray(0, length));
    try {
      decipher.final();
    } catch {
      plaintext.fill(0);
      return undefined;
    }
    return plain(plaintext);
  },

  // OpenSSL computes S B - k A and compares its encoding with R: the equation without the cofactor.
  verify({ signature, message, publicKey }) {
    if (!isStrictSignature(signature, publicKey)) return false;
    return verify(null, message, verifierOf(publicKey), signature);
  },

  x25519(secretKey) {
    const privateKey = privateKeyOf('x25519', secretKey);
    let ownKey: Uint8Array | undefined;
    return {
      get publicKey() {
        ownKey ??= rawPublicKey(privateKey);
        return ownKey;
      },
      agree(publicKey) {
        if (publicKey.length !== 32) return undefined;
        try {
          // OpenSSL rejects a result of all zeros, which a key of small order gives.
          return plain(diffieHellman({ privateKey, publicKey: publicKeyOf('x25519', publicKey) }));
        } catch {
          return undefined;
        }
      },
    };
  },

  kem: undefined,
};

function plain(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}
