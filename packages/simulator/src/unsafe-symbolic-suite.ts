/**
 * A suite for the leak oracle and the explorer alone. It protects nothing: it has the shape of the cryptography, so that
 * the core runs and its checks bite, a hundred times faster. What a party may open, sign or derive is told by their rules.
 */
import type { RandomBytes, Signer, Suite } from '@basa/masking';
import { equalBytes } from '@basa/masking';

const TAG_BYTES = 16;
const CURVE = 0x5a;

/** UNSAFE: a mixing function in the place of a hash, keyed hashes in the place of signatures, XOR for a curve. */
export const unsafeSymbolicSuite: Suite = {
  sha256: (...parts) => digest(parts, 32),
  hkdf: ({ secret, salt, info, length }) => digest([secret, salt, info], length),
  seal: ({ key, nonce, associatedData, plaintext }) => {
    const sealed = new Uint8Array(plaintext.length + TAG_BYTES);
    sealed.set(plaintext);
    sealed.set(digest([key, nonce, associatedData, plaintext], TAG_BYTES), plaintext.length);
    return sealed;
  },
  open: ({ key, nonce, associatedData, ciphertext }) => {
    const end = ciphertext.length - TAG_BYTES;
    if (end < 0) return undefined;
    const plaintext = ciphertext.slice(0, end);
    const tag = digest([key, nonce, associatedData, plaintext], TAG_BYTES);
    return equalBytes(tag, ciphertext.subarray(end)) ? plaintext : undefined;
  },
  verify: ({ signature, message, publicKey }) => equalBytes(signature, digest([publicKey, message], 64)),
  x25519PublicKey: (secretKey) => {
    const key = new Uint8Array(32);
    for (let i = 0; i < 32; i++) key[i] = (secretKey[i] as number) ^ CURVE;
    return key;
  },
  // Commutes: both sides add the two secrets.
  x25519: (secretKey, publicKey) => {
    if (publicKey.length !== 32) return undefined;
    const shared = new Uint8Array(32);
    for (let i = 0; i < 32; i++) shared[i] = (secretKey[i] as number) + ((publicKey[i] as number) ^ CURVE);
    return shared;
  },
};

/** UNSAFE: whoever knows the public key could sign; the oracle's adversary signs with its own signers only. */
export function unsafeSymbolicSigner(publicKey: Uint8Array): Signer {
  return { publicKey, sign: (message) => digest([publicKey, message], 64) };
}

/** Bytes that never repeat and whose first word counts the draws: it names the seed. */
export function countingBytes(onDraw: (name: number) => void, counter: { next: number }): RandomBytes {
  return (length) => {
    const bytes = new Uint8Array(length);
    const name = counter.next++;
    for (let i = 0; i < 4; i++) bytes[i] = name >>> (8 * i);
    onDraw(name);
    return bytes;
  };
}

/** Two 32-bit lanes over the concatenation of the parts, stretched to `length` bytes (a multiple of four). */
function digest(parts: readonly Uint8Array[], length: number): Uint8Array {
  let a = 0x9e3779b9;
  let b = 0x85ebca6b;
  for (const part of parts) {
    for (let i = 0; i < part.length; i++) {
      const byte = part[i] as number;
      a = Math.imul(a ^ byte, 0x01000193);
      b = Math.imul((b << 5) ^ (b >>> 27) ^ byte, 0x2c1b3c6d) ^ (a >>> 15);
    }
  }
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i += 4) {
    a = mixed(a + b + i);
    b = mixed(b ^ Math.imul(a, 0x27d4eb2f));
    bytes[i] = a;
    bytes[i + 1] = a >>> 8;
    bytes[i + 2] = a >>> 16;
    bytes[i + 3] = a >>> 24;
  }
  return bytes;
}

function mixed(word: number): number {
  let h = word | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
