/** The suite over node:crypto. */
import { createCipheriv, createDecipheriv, createHash, createPublicKey, hkdfSync, verify } from 'node:crypto';
import { isStrictSignature } from '../ed25519-strict.ts';
import type { Suite } from '../suite.ts';
import { TAG_BYTES } from '../suite.ts';

const AEAD = 'chacha20-poly1305';
const AEAD_OPTIONS = { authTagLength: TAG_BYTES };

/** SubjectPublicKeyInfo header of a raw Ed25519 key (RFC 8410). */
const SPKI_HEADER = Buffer.from('302a300506032b6570032100', 'hex');

export const nodeSuite: Suite = {
  sha256(...parts) {
    const hash = createHash('sha256');
    for (const part of parts) hash.update(part);
    return plain(hash.digest());
  },

  hkdf({ secret, salt, info, length }) {
    return new Uint8Array(hkdfSync('sha256', secret, salt, info, length));
  },

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
    const key = createPublicKey({ key: Buffer.concat([SPKI_HEADER, publicKey]), format: 'der', type: 'spki' });
    return verify(null, message, key, signature);
  },
};

function plain(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}
