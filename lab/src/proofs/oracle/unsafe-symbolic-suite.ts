/**
 * A suite only for the leak oracle. It protects nothing. It has the interface of real cryptography and is a hundred times
 * faster, so that the core and its checks run. The oracle decides which secrets a party may open, sign with or derive.
 */
import {
  equalBytes,
  isKemKey,
  KEM_CIPHERTEXT_BYTES,
  KEM_KEY_BYTES,
  KEM_SECRET_BYTES,
  type Kem,
  type Signer,
  type Suite,
} from '@basa/masking';

const TAG_BYTES = 16;
const CURVE = 0x5a;

/** UNSAFE: a mixing function in place of a hash, keyed hashes in place of signatures, XOR for a curve. */
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
  x25519: (secretKey) => ({
    get publicKey() {
      return added(secretKey, CURVE, undefined);
    },
    // Commutes: both sides add the two secrets.
    agree: (publicKey) => (publicKey.length === 32 ? added(publicKey, CURVE, secretKey) : undefined),
  }),
  kem: symbolicKem(),
};

/** In a plain loop: `map` of a short typed array takes ten times as long. */
function added(bytes: Uint8Array, mask: number, others: Uint8Array | undefined): Uint8Array {
  const sum = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) sum[i] = ((bytes[i] as number) ^ mask) + (others?.[i] ?? 0);
  return sum;
}

/** Coefficients of a key stay below the prime. */
const KEY_MASK = 7;

function symbolicKem(): Kem {
  const cover = (publicKey: Uint8Array, bytes: Uint8Array): Uint8Array => {
    const pad = digest([publicKey], 32);
    return bytes.map((byte, i) => byte ^ (pad[i] as number));
  };
  const encapsulate: Kem['encapsulate'] = (publicKey, randomness) => {
    if (!isKemKey(publicKey)) throw new Error('this is no ML-KEM key');
    const ciphertext = new Uint8Array(KEM_CIPHERTEXT_BYTES);
    ciphertext.set(cover(publicKey, randomness));
    return { ciphertext, shared: digest([publicKey, randomness], 32) };
  };
  return {
    sha3: (...parts) => digest(parts, 32),
    keyPair(seed) {
      const publicKey = digest([seed], KEM_KEY_BYTES).map((byte) => byte & KEY_MASK);
      const secretKey = new Uint8Array(KEM_SECRET_BYTES);
      secretKey.set(publicKey);
      secretKey.set(seed, KEM_KEY_BYTES);
      return { publicKey, secretKey };
    },
    encapsulate,
    decapsulate(secretKey, ciphertext) {
      const publicKey = secretKey.subarray(0, KEM_KEY_BYTES);
      const again = encapsulate(publicKey, cover(publicKey, ciphertext.subarray(0, 32)));
      return equalBytes(again.ciphertext, ciphertext) ? again.shared : digest([secretKey, ciphertext], 32);
    },
  };
}

/** UNSAFE: anyone who knows the public key could sign; the oracle's adversary signs with its own signers only. */
export function unsafeSymbolicSigner(publicKey: Uint8Array): Signer {
  return { publicKey, sign: (message) => digest([publicKey, message], 64) };
}

/** The number of bytes of a digest that distinguish it; the rest is zero. The state has eight, so sixteen are plenty. */
const TOLD_BYTES = 16;

/** Two 32-bit lanes over the concatenation of the parts and its length, word by word. */
function digest(parts: readonly Uint8Array[], length: number): Uint8Array {
  let a = 0x9e3779b9 | 0;
  let b = 0x85ebca6b | 0;
  let [word, count] = [0, 0];
  for (const part of parts) {
    const end = part.length;
    let i = 0;
    // The remaining bytes of a word that started in the previous part.
    for (; i < end && (count & 3) !== 0; i++, count++) {
      word |= (part[i] as number) << (8 * (count & 3));
      if ((count & 3) === 3) {
        a = nextA(a, word);
        b = nextB(b, word, a);
        word = 0;
      }
    }
    for (; i + 4 <= end; i += 4, count += 4) {
      const whole = wordAt(part, i);
      a = nextA(a, whole);
      b = nextB(b, whole, a);
    }
    for (; i < end; i++, count++) word |= (part[i] as number) << (8 * (count & 3));
  }
  a = nextA(a, word);
  b = nextB(b, word, a) ^ count;
  const bytes = new Uint8Array(length);
  for (let i = 0; i < TOLD_BYTES && i < length; i += 4) {
    a = mixed(a + b + i);
    b = mixed(b ^ Math.imul(a, 0x27d4eb2f));
    bytes[i] = a;
    bytes[i + 1] = a >>> 8;
    bytes[i + 2] = a >>> 16;
    bytes[i + 3] = a >>> 24;
  }
  return bytes;
}

function nextA(a: number, word: number): number {
  return Math.imul(a ^ word, 0x01000193);
}

function nextB(b: number, word: number, a: number): number {
  return Math.imul((b << 5) ^ (b >>> 27) ^ word, 0x2c1b3c6d) ^ (a >>> 15);
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  );
}

function mixed(word: number): number {
  let h = word | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
