/**
 * ML-KEM-768 and SHA3-256 of the noble libraries, in Node and in browsers; only programs that need them load this file. The ML-KEM of newer Nodes and
 * of WebCrypto draws its randomness itself: a sealed seed could not be made again and compared.
 */
import { equalBytes, type Kem, type Suite, toHex } from '@basa/masking';
import { sha3_256 } from '@noble/hashes/sha3.js';
import { type KEMPrepared, ml_kem768 } from '@noble/post-quantum/ml-kem.js';

/** More keys than the live epochs of a few tasks have; an expanded one takes 8 kB, and nothing of it is secret. */
const MAX_EXPANDED = 256;
/** The position of the public key in dk (FIPS 203, algorithm 16). */
const KEY_IN_SECRET = { start: 1152, end: 2336 };
/** Enough to find a key; the whole of it is compared. */
const NAME_BYTES = 32;

/** The suite with ML-KEM. Keys that are used again are expanded once. */
export function withKem(suite: Suite): Suite {
  return { ...suite, kem };
}

const kem: Kem = createKem();

function createKem(): Kem {
  const expanded = new Map<string, KEMPrepared>();
  const expandedKey = (publicKey: Uint8Array): KEMPrepared => {
    const name = toHex(publicKey.subarray(0, NAME_BYTES));
    const known = expanded.get(name);
    if (known !== undefined && equalBytes(known.publicKey, publicKey)) return known;
    const [oldest] = expanded.keys();
    if (oldest !== undefined && expanded.size >= MAX_EXPANDED) expanded.delete(oldest);
    const made = ml_kem768.prepare(publicKey);
    expanded.set(name, made);
    return made;
  };
  return {
    sha3(...parts) {
      const hash = sha3_256.create();
      for (const part of parts) hash.update(part);
      return hash.digest();
    },
    keyPair: (seed) => ml_kem768.keygen(seed),
    encapsulate(publicKey, randomness) {
      const { cipherText, sharedSecret } = expandedKey(publicKey).encapsulate(randomness);
      return { ciphertext: cipherText, shared: sharedSecret };
    },
    decapsulate(secretKey, ciphertext) {
      const key = expandedKey(secretKey.subarray(KEY_IN_SECRET.start, KEY_IN_SECRET.end));
      return key.decapsulate(ciphertext, secretKey);
    },
  };
}
