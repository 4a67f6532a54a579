/** The cryptography of Node, by OpenSSL: hashes, keys of RFC 8410, randomness, signatures. */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hash,
  hkdfSync,
  type KeyObject,
  randomFillSync,
  sign,
  verify,
} from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Crc32, Signer, Suite } from '@basa/masking';
import { isStrictSignature } from '../ed25519-strict.ts';
import { TAG_BYTES } from '../tag.ts';

const HASH_BYTES = 32;
const BLOCK_BYTES = 64;
/** Longer messages go the usual way. It is also the longest `info` that OpenSSL takes. */
const MAX_BYTES = 1024;

const inner = new Uint8Array(BLOCK_BYTES + MAX_BYTES + 1);
const outer = new Uint8Array(BLOCK_BYTES + HASH_BYTES);

const sha256: Suite['sha256'] = (...parts) => {
  let length = 0;
  for (const part of parts) length += part.length;
  if (length > MAX_BYTES) return longHash(parts);
  let at = 0;
  for (const part of parts) {
    inner.set(part, at);
    at += part.length;
  }
  const digest = new Uint8Array(HASH_BYTES);
  writeHash(inner.subarray(0, length), digest, 0);
  inner.fill(0, 0, length);
  return digest;
};

function longHash(parts: readonly Uint8Array[]): Uint8Array {
  const whole = createHash('sha256');
  for (const part of parts) whole.update(part);
  const { buffer, byteOffset, length } = whole.digest();
  return new Uint8Array(buffer, byteOffset, length);
}

const hkdf: Suite['hkdf'] = ({ secret, salt, info, length }) => {
  const isShort = salt.length <= BLOCK_BYTES && secret.length <= MAX_BYTES && info.length <= MAX_BYTES;
  if (length !== HASH_BYTES || !isShort) return new Uint8Array(hkdfSync('sha256', secret, salt, info, length));
  const extracted = hmac(salt, secret);
  inner[BLOCK_BYTES + info.length] = 1; // the number of the block, after the info
  const derived = hmac(extracted, info, 1);
  extracted.fill(0);
  inner.fill(0);
  outer.fill(0);
  return derived;
};

/** HMAC (RFC 2104) of the message and of the `more` bytes that follow it in `inner`. */
function hmac(key: Uint8Array, message: Uint8Array, more = 0): Uint8Array {
  for (let i = 0; i < BLOCK_BYTES; i++) {
    const byte = key[i] ?? 0;
    inner[i] = byte ^ 0x36;
    outer[i] = byte ^ 0x5c;
  }
  inner.set(message, BLOCK_BYTES);
  writeSecretHash(inner.subarray(0, BLOCK_BYTES + message.length + more), outer, BLOCK_BYTES);
  const mac = new Uint8Array(HASH_BYTES);
  writeSecretHash(outer, mac, 0);
  return mac;
}

/** A string cannot be overwritten, so inputs of keys go through a buffer. */
function writeSecretHash(message: Uint8Array, target: Uint8Array, at: number): void {
  const digest = hash('sha256', message, 'buffer');
  target.set(digest, at);
  digest.fill(0);
}

/** Goes through text, which is made faster than a buffer with its own memory. */
function writeHash(message: Uint8Array, target: Uint8Array, at: number): void {
  const text = hash('sha256', message, 'binary');
  for (let i = 0; i < HASH_BYTES; i++) target[at + i] = text.charCodeAt(i);
}

type Curve = 'ed25519' | 'x25519';

/** The names of RFC 8037. */
const JWK_CURVE = { ed25519: 'Ed25519', x25519: 'X25519' };
/** DER headers of PKCS #8, before the 32 raw bytes. */
const PKCS8_HEADER = { ed25519: '302e020100300506032b657004220420', x25519: '302e020100300506032b656e04220420' };

/** As a JWK: OpenSSL takes several times longer to read DER, about as long as it takes to verify a signature. */
function publicKeyOf(curve: Curve, raw: Uint8Array): KeyObject {
  return publicKeyOfText(curve, textOf(raw));
}

function publicKeyOfText(curve: Curve, x: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: JWK_CURVE[curve], x }, format: 'jwk' });
}

function textOf(raw: Uint8Array): string {
  return Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString('base64url');
}

/** Devices and services send one signed request after the other: about as many keys as a server sees at a time. */
const MAX_VERIFIERS = 4096;
const verifiers = new Map<string, KeyObject>();

/** Returns the Ed25519 key and keeps it for the next signature under it: making it costs a notable part of a verification. */
function verifierOf(raw: Uint8Array): KeyObject {
  const text = textOf(raw);
  const known = verifiers.get(text);
  if (known !== undefined) return known;
  const [oldest] = verifiers.keys();
  if (oldest !== undefined && verifiers.size >= MAX_VERIFIERS) verifiers.delete(oldest);
  const made = publicKeyOfText('ed25519', text);
  verifiers.set(text, made);
  return made;
}

function privateKeyOf(curve: Curve, raw: Uint8Array): KeyObject {
  if (raw.length !== 32) throw new RangeError(`a private key has 32 bytes, got ${raw.length}`);
  return curve === 'x25519' && readsJwkSecrets() ? privateKeyOfJwk(raw) : privateKeyOfDer(curve, raw);
}

function privateKeyOfDer(curve: Curve, raw: Uint8Array): KeyObject {
  const key = Buffer.concat([Buffer.from(PKCS8_HEADER[curve], 'hex'), raw]);
  const object = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  key.fill(0);
  return object;
}

/**
 * Ten times as fast as DER. `x` must be present, but OpenSSL does not read it: it computes the public half from `d`.
 * The text of the secret cannot be overwritten; it lives until it is collected.
 */
function privateKeyOfJwk(raw: Uint8Array): KeyObject {
  return createPrivateKey({ key: { kty: 'OKP', crv: JWK_CURVE.x25519, d: textOf(raw), x: NO_X }, format: 'jwk' });
}

const NO_X = Buffer.alloc(32).toString('base64url');
let jwkSecretsAreRead: boolean | undefined;

/** True if this Node makes the same key from both forms. */
function readsJwkSecrets(): boolean {
  jwkSecretsAreRead ??= isSameKey(Uint8Array.from({ length: 32 }, (_, n) => n + 1));
  return jwkSecretsAreRead;
}

function isSameKey(secret: Uint8Array): boolean {
  try {
    return Buffer.from(rawPublicKey(privateKeyOfJwk(secret))).equals(rawPublicKey(privateKeyOfDer('x25519', secret)));
  } catch {
    return false;
  }
}

/** The public half, as raw bytes. */
function rawPublicKey(key: KeyObject): Uint8Array {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return new Uint8Array(Buffer.from(x, 'base64url'));
}

export function nodeRandomBytes(length: number): Uint8Array {
  return randomFillSync(new Uint8Array(length));
}

export const nodeCrc32: Crc32 = (bytes, before = 0) => crc32(bytes, before);

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

/** Keeps the key in a key object, which does not print; the caller may wipe its 32 bytes. */
export function createNodeSigner(secretKey: Uint8Array): Signer {
  const key = privateKeyOf('ed25519', secretKey);
  return {
    publicKey: rawPublicKey(key),
    sign: (message) => new Uint8Array(sign(null, message, key)),
  };
}
