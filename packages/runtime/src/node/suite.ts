/** The suite over node:crypto. */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  diffieHellman,
  hkdfSync,
  hash as oneShot,
  verify,
} from 'node:crypto';
import type { Suite } from '@basa/masking';
import { isStrictSignature } from '../ed25519-strict.ts';
import { TAG_BYTES } from '../tag.ts';
import { privateKeyOf, publicKeyOf, rawPublicKey } from './raw-keys.ts';

const AEAD = 'chacha20-poly1305';
const AEAD_OPTIONS = { authTagLength: TAG_BYTES };
const HASH_BYTES = 32;
/** What `hkdfSync` takes: longer ones go there and are refused, whatever the length of the result. */
const MOST_INFO_BYTES = 1024;
const FIRST_BLOCK = Uint8Array.of(1);

export const nodeSuite: Suite = {
  sha256(...parts) {
    const [only] = parts;
    if (only !== undefined && parts.length === 1) return plain(oneShot('sha256', only, 'buffer'));
    const hash = createHash('sha256');
    for (const part of parts) hash.update(part);
    return plain(hash.digest());
  },

  // Two HMACs make one block, in half the time of OpenSSL's own function.
  hkdf({ secret, salt, info, length }) {
    if (length === HASH_BYTES && info.length <= MOST_INFO_BYTES) {
      const extracted = hmac(salt, secret);
      const block = hmac(extracted, info, FIRST_BLOCK);
      extracted.fill(0);
      return plain(block);
    }
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
    return verify(null, message, publicKeyOf('ed25519', publicKey), signature);
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
          // OpenSSL refuses a result of all zeros, which is what a key of small order gives.
          return plain(diffieHellman({ privateKey, publicKey: publicKeyOf('x25519', publicKey) }));
        } catch {
          return undefined;
        }
      },
    };
  },
};

function hmac(key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

function plain(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}
