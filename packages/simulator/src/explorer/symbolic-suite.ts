/**
 * Cryptography as symbols, for exploring states: everything verifies, opens and agrees as it should, and hides and
 * protects nothing. It stands for parties that cannot forge, because nobody in the explorer tries to.
 */
import type { Keystream, MaskTools, Signer, Suite } from '@basa/masking';
import { ascii, concatBytes, equalBytes, plainVectorKernel } from '@basa/masking';

const TAG_BYTES = 16;
const CURVE = ascii('a commuting stand-in for X25519!');

const unsafeSymbolicSuite: Suite = {
  sha256: (...parts) => mix(parts),
  hkdf: ({ secret, salt, info, length }) => stretch(concatBytes(secret, salt, info), length),
  seal: ({ key, nonce, associatedData, plaintext }) =>
    concatBytes(plaintext, mix([key, nonce, associatedData, plaintext]).subarray(0, TAG_BYTES)),
  open({ key, nonce, associatedData, ciphertext }) {
    const plaintext = ciphertext.slice(0, Math.max(0, ciphertext.length - TAG_BYTES));
    const tag = mix([key, nonce, associatedData, plaintext]).subarray(0, TAG_BYTES);
    return equalBytes(tag, ciphertext.subarray(plaintext.length)) ? plaintext : undefined;
  },
  verify: ({ signature, message, publicKey }) => equalBytes(signature, signed(publicKey, message)),
  x25519PublicKey: (secretKey) => xor(secretKey, CURVE),
  x25519: (secretKey, publicKey) => (publicKey.length === 32 ? xor(xor(secretKey, CURVE), publicKey) : undefined),
};

export function unsafeSymbolicSigner(secretKey: Uint8Array): Signer {
  const publicKey = mix([secretKey]);
  return { publicKey, sign: (message) => signed(publicKey, message) };
}

const keystream: Keystream = {
  read: ({ stream, firstByte, bytes }) =>
    stretch(concatBytes(stream.key, stream.counter), firstByte + bytes).subarray(firstByte),
};

export function unsafeSymbolicTools(): MaskTools<Keystream> {
  return { suite: unsafeSymbolicSuite, kernel: plainVectorKernel(16), keystream };
}

function signed(publicKey: Uint8Array, message: Uint8Array): Uint8Array {
  const half = mix([publicKey, message]);
  return concatBytes(half, half);
}

function xor(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.map((byte, n) => byte ^ (b[n] as number));
}

/** Distinct inputs give distinct bytes, as far as 128 bits of multiply-and-mix tell them apart. */
function mix(parts: readonly Uint8Array[]): Uint8Array {
  let [a, b, c, d] = [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344];
  for (const part of parts) {
    for (let n = 0; n < part.length; n++) {
      const byte = part[n] as number;
      a = Math.imul(a ^ byte, 0x9e3779b1);
      b = Math.imul(b ^ byte ^ (a >>> 15), 0x85ebca77);
      c = Math.imul((c + byte) ^ (b >>> 13), 0xc2b2ae3d);
      d = Math.imul((d + (c >>> 16)) ^ byte, 0x27d4eb2f) + a;
    }
  }
  const words = new Uint32Array(8);
  for (let n = 0; n < 8; n++) {
    a = Math.imul(a ^ (d >>> 15), 0x9e3779b1) + n;
    b = Math.imul(b ^ (a >>> 13), 0x85ebca77);
    c = Math.imul(c ^ (b >>> 16), 0xc2b2ae3d);
    d = Math.imul(d ^ (c >>> 15), 0x27d4eb2f);
    words[n] = a ^ b ^ c ^ d;
  }
  return new Uint8Array(words.buffer);
}

function stretch(input: Uint8Array, length: number): Uint8Array {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, n) => mix([Uint8Array.of(n), input]));
  return concatBytes(...blocks).subarray(0, length);
}
