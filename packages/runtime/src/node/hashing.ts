/**
 * SHA-256 and HKDF-SHA-256 from one-shot hashes over memory that is kept. A small hash takes half a microsecond this way; `createHash`,
 * `createHmac` and `hkdfSync` make objects for each call that cost several times as much, most of it when they are collected.
 */
import { createHash, hash, hkdfSync } from 'node:crypto';
import type { Suite } from '@basa/masking';

const HASH_BYTES = 32;
const BLOCK_BYTES = 64;
/** Longer messages go the usual way. It is also the longest `info` that OpenSSL takes. */
const MAX_BYTES = 1024;

const inner = new Uint8Array(BLOCK_BYTES + MAX_BYTES + 1);
const outer = new Uint8Array(BLOCK_BYTES + HASH_BYTES);

export const sha256: Suite['sha256'] = (...parts) => {
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

export const hkdf: Suite['hkdf'] = ({ secret, salt, info, length }) => {
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
