/** The cryptography of browsers: the noble libraries, and WebCrypto where its asynchronous answers can be awaited. */
import { equalBytes, type Signer, type Suite } from '@basa/masking';
import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { ed25519, x25519 } from '@noble/curves/ed25519.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { isStrictSignature } from '../ed25519-strict.ts';
import { TAG_BYTES } from '../tag.ts';

/** Random bytes from WebCrypto, which gives at most 65,536 a call. */
const MAX_AT_ONCE = 65_536;

export function webRandomBytes(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let start = 0; start < length; start += MAX_AT_ONCE) {
    crypto.getRandomValues(bytes.subarray(start, start + MAX_AT_ONCE));
  }
  return bytes;
}

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

/** Keeps a copy of the key; the caller may wipe its 32 bytes. */
export function createWebSigner(secretKey: Uint8Array): Signer {
  const secret = secretKey.slice();
  return { publicKey: ed25519.getPublicKey(secret), sign: (message) => ed25519.sign(message, secret) };
}

const KEY_BYTES = 32;
/** PKCS #8 (RFC 8410) of 32 secret bytes: all of it but the bytes. */
const PKCS8_HEAD = Uint8Array.of(0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x6e, 4, 0x22, 4, 0x20);

const BASE_POINT = Uint8Array.from({ length: KEY_BYTES }, (_, i) => (i === 0 ? 9 : 0));

interface WebX25519Key {
  readonly publicKey: Uint8Array;
  agree(publicKey: Uint8Array): Promise<Uint8Array | undefined>;
}

interface WebX25519 {
  key(secretKey: Uint8Array): Promise<WebX25519Key>;
}

/** Returns undefined if the browser has no X25519, or if its results differ from those of the library. */
export async function createWebX25519(): Promise<WebX25519 | undefined> {
  try {
    const [secret, peer] = [new Uint8Array(KEY_BYTES).fill(1), new Uint8Array(KEY_BYTES).fill(7)];
    const own = await keyOf(secret);
    const expected = webSuite.x25519(secret);
    const shared = await own.agree(peer);
    const isSame =
      equalBytes(own.publicKey, expected.publicKey) &&
      equalBytes(shared ?? new Uint8Array(), expected.agree(peer) ?? Uint8Array.of(0)) &&
      (await own.agree(new Uint8Array(KEY_BYTES))) === undefined;
    return isSame ? { key: keyOf } : undefined;
  } catch {
    return undefined;
  }
}

async function keyOf(secretKey: Uint8Array): Promise<WebX25519Key> {
  const document = new Uint8Array(PKCS8_HEAD.length + KEY_BYTES);
  document.set(PKCS8_HEAD);
  document.set(secretKey, PKCS8_HEAD.length);
  const key = await crypto.subtle.importKey('pkcs8', document, 'X25519', false, ['deriveBits']);
  document.fill(0);
  const agree = async (publicKey: Uint8Array): Promise<Uint8Array | undefined> => {
    try {
      const peer = await crypto.subtle.importKey('raw', Uint8Array.from(publicKey), 'X25519', false, []);
      const bits = await crypto.subtle.deriveBits({ name: 'X25519', public: peer }, key, 8 * KEY_BYTES);
      const shared = new Uint8Array(bits);
      // Browsers differ in whether they reject the result of a key of small order.
      return shared.some((byte) => byte !== 0) ? shared : undefined;
    } catch {
      return undefined;
    }
  };
  // The public key by its definition: the base point is u = 9. An export would write the secret into a string.
  const publicKey = await agree(BASE_POINT);
  if (publicKey === undefined) throw new Error('WebCrypto does not compute X25519');
  return { publicKey, agree };
}
